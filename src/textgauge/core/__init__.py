"""What every room builds on: results, names, errors, progress, files, limits."""
