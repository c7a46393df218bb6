"""What Anew costs, measured: `make bench` prints it, with the targets."""
