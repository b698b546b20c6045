"""What people may do; the command line and the admin API are two skins over it."""
