"""What a motion says: the dataset, its energies, residuals and forces."""
