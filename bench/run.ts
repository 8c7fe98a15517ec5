import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchAbort } from './abort.ts'
import { benchAppend } from './append.ts'
import { benchFileTools } from './file-tools.ts'
import { benchHistory } from './history.ts'
import { benchImport, type ImportSize } from './import.ts'
import { benchLiveSessions } from './live-sessions.ts'
import { benchOpen } from './open-session.ts'
import { type BuildFigures, benchRequest } from './request.ts'
import { benchSearch } from './search.ts'
import { benchShellOutput } from './shell-output.ts'
import { benchStartUp } from './start-up.ts'
import { benchStreaming } from './streaming.ts'
import { benchSubagents } from './subagents.ts'
import { number, printRows, type Row } from './table.ts'
import { benchTakeOver } from './take-over.ts'
import { benchTurnOverhead, type Overhead } from './turn-overhead.ts'

const rounds = 5

const kilobytes = (bytes: number) => `${number(bytes / 1024, 1)} KB`

const overheadRow = (what: string, { overheadMs, ofDirect, turnMs, directMs }: Overhead): Row => ({
  what,
  figure: `${number(overheadMs, 1)} ms = ${number(ofDirect * 100, 1)} % (${number(turnMs, 1)} against ${number(directMs, 1)} ms)`,
  goal: '< 5 ms and < 10 %',
  holds: overheadMs < 5 && ofDirect < 0.1,
})

const buildFigure = ({ buildMs, heldMs }: BuildFigures, here: BuildFigures) =>
  `${number(buildMs, 1)} ms, ${number(heldMs, 1)} of it on the main thread (${number(here.heldMs, 1)} if built there)`

// Runs all measurements on one disk and prints each beside its goal.
const dir = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
try {
  const append = await benchAppend({ dir, rounds })
  const open = await benchOpen({ dir, rounds })
  const request = await benchRequest({ dir, rounds })
  const history = await benchHistory({ dir, rounds })
  const abort = await benchAbort({ dir, rounds })
  const turn = await benchTurnOverhead({ dir, rounds })
  const fifty = await benchStreaming({ dir, sessions: 50, turns: 10 })
  const hundred = await benchStreaming({ dir, sessions: 100, turns: 5 })
  const tree = await benchSubagents({ dir })
  const live = await benchLiveSessions()
  const startUp = await benchStartUp({ rounds })
  const imported = await benchImport({ dir, rounds: 3 })
  const search = await benchSearch({ dir, rounds })
  const files = await benchFileTools({ dir, rounds })
  const shell = await benchShellOutput({ dir })
  const takeOver = await benchTakeOver({ dir, rounds })
  const ratio = (sessions: number) => append.ofRaw[sessions] ?? Number.NaN
  const rows: readonly Row[] = [
    { what: 'raw write + fdatasync', figure: `${number(append.rawPerSecond)} /s`, goal: '', holds: null },
    ...[1, 8, 64].map((sessions): Row => {
      const goal = sessions === 1 ? 0.65 : sessions === 64 ? 3.5 : null
      return {
        what: `appends acknowledged, ${sessions} session${sessions === 1 ? '' : 's'}`,
        figure: `${number(append.perSecond[sessions] ?? Number.NaN)} /s = ${number(ratio(sessions), 2)} of raw`,
        goal: goal === null ? '' : `≥ ${goal} of raw`,
        holds: goal === null ? null : ratio(sessions) >= goal,
      }
    }),
    {
      what: 'event loop delay while appending, p99',
      figure: `${number(append.loopDelayP99Ms, 2)} ms`,
      goal: '< 10 ms',
      holds: append.loopDelayP99Ms < 10,
    },
    ...[10, 1_000, 10_000].map(
      (messages): Row => ({
        what: `open a session of ${number(messages)} messages`,
        figure: `${number(open.openMs[messages] ?? Number.NaN, 2)} ms, window ${number(open.windowMs[messages] ?? Number.NaN, 2)} ms, state ${number(open.stateBytes[messages] ?? Number.NaN)} bytes`,
        goal: messages === 10_000 ? '≤ 2 × that of 10' : '',
        holds: messages === 10_000 ? open.longestToShortest <= 2 : null,
      }),
    ),
    {
      what: 'command to a session of another process',
      figure: `${number(takeOver.forwardedMs, 1)} ms (${number(takeOver.hereMs, 1)} ms in this process)`,
      goal: '',
      holds: null,
    },
    {
      what: 'command answered after its owner was killed',
      figure: `${number(takeOver.killedMs)} ms (${number(takeOver.stoppedMs)} ms if it was stopped)`,
      goal: '< 2,000 ms',
      holds: takeOver.killedMs < 2000,
    },
    {
      what: 'build a request, window of 800 KB',
      figure: buildFigure(request.onThread, request.here),
      goal: '< 15 ms, less on the main thread',
      holds: request.onThread.buildMs < 15 && request.onThread.heldMs < request.here.heldMs,
    },
    {
      what: 'the same with 10 MB of images',
      figure: buildFigure(request.filesOnThread, request.filesHere),
      goal: '',
      holds: null,
    },
    {
      what: 'a step after 100, 1,000, 20,000 messages',
      figure: `${Object.values(history.stepMs)
        .map((stepMs) => number(stepMs, 1))
        .join(', ')} ms = ${number(history.slowestToFastest, 2)} ×`,
      goal: '≤ 1.5 ×',
      holds: history.slowestToFastest <= 1.5,
    },
    {
      what: 'branch and switch, 20,000 messages',
      figure: `${number(history.branchMs, 1)} ms and ${number(history.switchMs, 1)} ms`,
      goal: '< 20 ms each',
      holds: Math.max(history.branchMs, history.switchMs) < 20,
    },
    {
      what: 'a fork of 10,000 messages writes',
      figure: kilobytes(history.forkBytes),
      goal: '< 10 KB',
      holds: history.forkBytes < 10 * 1024,
    },
    {
      what: 'resume a session of 10,000 messages and prompt',
      figure: `${number(history.resumedRows)} records read, ${number(history.rowsBefore)} from before its checkpoint`,
      goal: '0 before it',
      holds: history.rowsBefore === 0,
    },
    {
      what: 'abort until idle, slower of two',
      figure: `shell ${number(abort.shellMs, 1)} ms, stream ${number(abort.streamMs, 1)} ms, slowest ${number(abort.slowestMs, 1)} ms`,
      goal: '< 200 ms',
      holds: abort.worseMs < 200,
    },
    overheadRow('turn compared with a direct model call, 2,000 deltas', turn.paced),
    overheadRow('the same, all deltas at once', turn.atOnce),
    {
      what: 'first word to first delta, 50 sessions of 100 words/s',
      figure: `p50 ${number(fifty.firstP50Ms, 2)} ms, p99 ${number(fifty.firstP99Ms, 2)} ms ; direct model call ${number(fifty.directP50Ms, 2)} and ${number(fifty.directP99Ms, 2)} ms`,
      goal: 'p99 < 2 ms',
      holds: fifty.firstP99Ms < 2,
    },
    {
      what: 'event loop delay, 100 sessions streaming, p99',
      figure: `${number(hundred.loopDelayP99Ms, 2)} ms, ${number(hundred.deltas)} deltas, all in order`,
      goal: '< 20 ms',
      holds: hundred.loopDelayP99Ms < 20,
    },
    {
      what: 'event loop delay, 8 subagents streaming, p99',
      figure: `${number(tree.loopDelayP99Ms, 2)} ms, ${number(tree.deltas)} deltas in one stream, none lost`,
      goal: '< 20 ms',
      holds: tree.loopDelayP99Ms < 20,
    },
    {
      what: 'memory of an idle session, loaded',
      figure: kilobytes(live.loadedBytes),
      goal: '< 60 KB',
      holds: live.loadedBytes < 60 * 1024,
    },
    {
      what: 'memory of an idle session, unloaded',
      figure: kilobytes(live.unloadedBytes),
      goal: '< 2 KB',
      holds: live.unloadedBytes < 2 * 1024,
    },
    ...(['3 KB', '20 KB', '8 MB'] satisfies readonly ImportSize[]).map(
      (size): Row => ({
        what: `import of files of ${size}`,
        figure: `${number(imported.perSecond[size] / 1e6, 1)} MB/s`,
        goal: '≥ 20 MB/s',
        holds: imported.perSecond[size] >= 20e6,
      }),
    ),
    {
      what: 'event loop delay while importing, p99',
      figure: `${number(imported.loopDelayP99Ms, 2)} ms`,
      goal: '< 50 ms',
      holds: imported.loopDelayP99Ms < 50,
    },
    {
      what: 'find and grep in 100,000 files, compared with ripgrep by hand',
      figure: `${number(search.findMs)} and ${number(search.grepMs)} ms against ${number(search.findByHandMs)} and ${number(search.grepByHandMs)} ms`,
      goal: '≤ 1.3 ×',
      holds: search.ofByHand <= 1.3,
    },
    {
      what: 'a call of read_file, besides commits',
      figure: `${number(files.callMs, 2)} ms`,
      goal: '< 1 ms',
      holds: files.callMs < 1,
    },
    {
      what: 'edit_file in 10 MB: preview; run, with its sync',
      figure: `${number(files.previewMs)} ms; ${number(files.editMs)} ms`,
      goal: '< 100 ms each',
      holds: files.previewMs < 100 && files.editMs < 100,
    },
    {
      what: 'longest stall of the event loop meanwhile',
      figure: `${number(files.stallMs)} ms`,
      goal: '< 20 ms',
      holds: files.stallMs < 20,
    },
    {
      what: 'shell output of 200 MB: stored; memory at its peak, more than before',
      figure: `${number(shell.storedBytes / 1e6)} of ${number(shell.outputBytes / 1e6)} MB; ${number(shell.grownBytes / 1e6)} MB`,
      goal: 'all; < 128 MB',
      holds: shell.storedBytes >= shell.outputBytes && shell.grownBytes < 128e6,
    },
    {
      what: 'event loop delay meanwhile, p99',
      figure: `${number(shell.loopDelayP99Ms, 2)} ms`,
      goal: '< 20 ms',
      holds: shell.loopDelayP99Ms < 20,
    },
    { what: 'node -e 0', figure: `${number(startUp.nodeMs)} ms`, goal: '', holds: null },
    { what: 'holdfast --version', figure: `${number(startUp.versionMs)} ms`, goal: '', holds: null },
    {
      what: 'holdfast ls, 10,000 sessions',
      figure: `${number(startUp.lsMs)} ms = node + ${number(startUp.lsOverNodeMs)} ms`,
      goal: '≤ node + 150 ms',
      holds: startUp.lsOverNodeMs <= 150,
    },
    {
      what: 'npm start answers health',
      figure: `${number(startUp.serveHealthMs)} ms`,
      goal: '≤ 3,000 ms',
      holds: startUp.serveHealthMs <= 3000,
    },
    {
      what: 'private memory of an idle server',
      figure: startUp.idleServerBytes === null ? 'unknown' : `${number(startUp.idleServerBytes / 1e6)} MB`,
      goal: '≤ 90 MB',
      holds: startUp.idleServerBytes === null ? null : startUp.idleServerBytes <= 90e6,
    },
  ]
  if (process.argv.includes('--json'))
    process.stdout.write(
      `${JSON.stringify({ append, open, request, history, abort, turn, fifty, hundred, tree, live, startUp, imported, search, files, shell }, null, 2)}\n`,
    )
  else printRows(rows)
} finally {
  await rm(dir, { recursive: true, force: true })
}
