"""The commands of `zwang`, one file each."""
