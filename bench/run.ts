import { parseArgs } from 'node:util'
import type { Measurements } from './measurement.ts'
import { chooseMeasurements, runMeasurements } from './run-measurements.ts'
import { measureAbort } from './runtime/abort.ts'
import { measureAppend } from './runtime/append.ts'
import { measureFileTools } from './runtime/file-tools.ts'
import { measureFirstDelta } from './runtime/first-delta.ts'
import { measureHistory } from './runtime/history.ts'
import { measureIdleServers } from './runtime/idle-servers.ts'
import { measureImport } from './runtime/import.ts'
import { measureLiveSessions } from './runtime/live-sessions.ts'
import { measureOpenSession } from './runtime/open-session.ts'
import { measureRequest } from './runtime/request.ts'
import { measureSearch } from './runtime/search.ts'
import { measureShellOutput } from './runtime/shell-output.ts'
import { measureStartUp } from './runtime/start-up.ts'
import { measureStreaming } from './runtime/streaming.ts'
import { measureSubagents } from './runtime/subagents.ts'
import { measureTakeOver } from './runtime/take-over.ts'
import { measureTurnOverhead } from './runtime/turn-overhead.ts'

const measurements: Measurements = {
  append: measureAppend,
  'open-session': measureOpenSession,
  'take-over': measureTakeOver,
  request: measureRequest,
  history: measureHistory,
  abort: measureAbort,
  'turn-overhead': measureTurnOverhead,
  'first-delta': measureFirstDelta,
  streaming: measureStreaming,
  subagents: measureSubagents,
  'idle-servers': measureIdleServers,
  'live-sessions': measureLiveSessions,
  import: measureImport,
  search: measureSearch,
  'file-tools': measureFileTools,
  'shell-output': measureShellOutput,
  'start-up': measureStartUp,
}

// Runs the named measurements, or all, and prints each figure beside its goal.
const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true })
const chosen = chooseMeasurements(measurements, positionals)
if (chosen.ok) {
  const allMeasured = await runMeasurements(chosen.value, {
    rounds: 5,
    json: values.json ?? false,
    out: process.stdout,
  })
  process.exitCode = allMeasured ? 0 : 1
} else {
  process.stderr.write(`${chosen.fault.message}\n`)
  process.exitCode = 2
}
