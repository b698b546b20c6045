"""The short way: reads that are like earlier ones, from their proposal to their answer."""
