"""Speed against the peers and calibration of intervals and p-values; `make bench` and `make calibration` run them."""
