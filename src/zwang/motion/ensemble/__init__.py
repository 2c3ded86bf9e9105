"""Many runs of one system: `many` is the public verb, `problem` what is asked, `part` how a part of it is computed."""
