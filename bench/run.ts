import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchAppend } from './append.ts'
import { benchOpen } from './open-session.ts'
import { benchStartUp } from './start-up.ts'

const rounds = 5

type Row = { readonly what: string; readonly figure: string; readonly goal: string; readonly holds: boolean | null }

const number = (value: number, digits = 0) =>
  value.toLocaleString('en-GB', { maximumFractionDigits: digits, minimumFractionDigits: digits })

/** All figures of one run on one disk, each beside what it has to reach. */
const dir = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
try {
  const append = await benchAppend({ dir, rounds })
  const open = await benchOpen({ dir, rounds })
  const startUp = await benchStartUp({ rounds })
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
      what: 'event loop delay meanwhile, p99',
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
  ]
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ append, open, startUp }, null, 2)}\n`)
  else
    for (const { what, figure, goal, holds } of rows)
      process.stdout.write(
        `${what.padEnd(38)} ${figure.padEnd(58)} ${goal.padEnd(18)} ${holds === null ? '' : holds ? 'holds' : 'MISSED'}\n`,
      )
} finally {
  await rm(dir, { recursive: true, force: true })
}
