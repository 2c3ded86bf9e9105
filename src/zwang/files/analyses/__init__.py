"""Sections of a model file that ask what follows from it: equilibria, modes, kinematics, fits, …"""
