package runnertest

// cases gives all cases of the suite, in the order in which they run.
func cases() []testCase {
	serves := func(c Capabilities) bool { return c.Serves }
	return []testCase{
		{"what is prepared has an identity", nil, testPrepared},
		{"limits are enforced as the host says", nil, testEnforces},
		{"ready and addressable", nil, testReady},
		{"ready late", nil, testReadyLate},
		{"ready by port", nil, testPortReady},
		{"ready by log", nil, testLogReady},
		{"exits at once", nil, testExitsAtOnce},
		{"never ready", nil, testNeverReady},
		{"launch is cancelled", nil, testCancelledLaunch},
		{"unresolved reference", nil, testUnresolved},
		{"stop", nil, testStop},
		{"stop of one that ignores SIGTERM", nil, testStubborn},
		{"exit code", nil, testExitCode},
		{"close, twice and after a partial start", nil, testClose},
		{"command and environment arrive", serves, testTexts},
		{"services reach one another", serves, testReach},
		{"output from the start", nil, testOutput},
		{"output followed live", nil, testFollow},
		{"output followed to the end", nil, testFollowToTheEnd},
		{"log volume", func(c Capabilities) bool { return c.LogMeter && c.Serves }, testLogVolume},
		{"exec and files", func(c Capabilities) bool { return c.Exec && c.Serves }, testExec},
		{"cores of every thread", func(c Capabilities) bool { return c.Pins && c.Serves }, testCores},
		{"cores that do not exist", func(c Capabilities) bool { return c.Pins }, testCoresMissing},
		{"usage", nil, testUsage},
		{"usage: memory", serves, testUsageMemory},
		{"usage: children", serves, testUsageChildren},
		{"usage: network", func(c Capabilities) bool { return c.NetCounters && c.Serves }, testUsageNetwork},
		{"limit of processors", func(c Capabilities) bool { return c.LimitsCPU && c.Serves }, testLimitCPU},
		{"limit of memory", func(c Capabilities) bool { return c.LimitsMemory && c.Serves }, testLimitMemory},
		{"limit of processes", func(c Capabilities) bool { return c.LimitsPIDs && c.Serves }, testLimitPIDs},
		{"leftovers", func(c Capabilities) bool { return c.Cleans }, testLeftovers},
	}
}
