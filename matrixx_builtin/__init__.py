"""What every install has: essentials, services, host adapters and the command line."""
