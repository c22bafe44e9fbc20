"""Protocols: experiments that put metrics to the test; each is declared in a file of its own."""
