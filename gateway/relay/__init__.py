"""What crosses between a caller and the server that works on its request."""
