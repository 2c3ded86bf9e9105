"""What follows from a model beside its motion: equilibria, steady motions, state spaces, modes, kinematics, fits."""
