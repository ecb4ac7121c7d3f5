package runnertest

// cases are all cases of the suite, in the order in which they run.
var cases = []testCase{}
