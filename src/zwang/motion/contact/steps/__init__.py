"""Time stepping by Moreau and Jean: motions with many contacts, in steps of one size, without looking for events."""
