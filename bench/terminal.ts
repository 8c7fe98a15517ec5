import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { startServerProcess } from '../test/e2e/server-process.ts'
import { openTui, type TuiScreen } from '../test/e2e/tui-screen.ts'
import { buildProgram } from '../test/test-build.ts'
import { median } from './median.ts'
import { deltasPerSecond, longPrompt } from './page/model.ts'
import { number, printRows, type Row } from './table.ts'

const rounds = 7
const turns = 5000 // a prompt and an answer each
const keys = 200
const idleMs = 5000

/** Starts the terminal UI some times. Returns how long it took until a key was shown in the input, and until the session was there. */
async function measureStarts(home: string, workdir: string) {
  const found: { readonly input: number; readonly session: number }[] = []
  for (let round = 0; round <= rounds; round++) {
    const began = performance.now()
    await using screen = openTui({ home, workdir })
    await screen.until(/❯/)
    screen.type('x')
    await screen.until(/❯ x/)
    const input = performance.now() - began
    await screen.until(/demo\/agent/)
    if (round > 0) found.push({ input, session: performance.now() - began }) // the first one fills the compile cache
  }
  return { input: median(found.map(({ input }) => input)), session: median(found.map(({ session }) => session)) }
}

const processText = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8')

/** Returns the processor time that a process has used, in milliseconds. */
function cpuMs(pid: number): number {
  const [user = 0, system = 0] = processText(pid, 'stat').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? []
  return (user + system) * 10 // a tick is 10 ms
}

const residentMb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(processText(pid, 'status'))?.[1]) / 1024

/** Opens the session of 10,000 messages from the list. */
async function measureOpen(screen: TuiScreen): Promise<number> {
  await screen.until(/Question 0/)
  const began = performance.now()
  screen.type('\r')
  await screen.untilWhole(new RegExp(`Answer ${turns - 1}`))
  await screen.until(/bench\/model/)
  return performance.now() - began
}

/** Presses keys while an answer streams. Returns how long each took to be drawn, and the processor time for a second. */
async function measureKeys(screen: TuiScreen) {
  screen.type(`${longPrompt}\r`)
  await screen.until(/Esc stops/)
  const [cpu, began] = [cpuMs(screen.pid), performance.now()]
  const delays: number[] = []
  let typed = ''
  for (let index = 0; index < keys; index++) {
    const key = 'abcdefghijklmnopqrstuvwxyz'[index % 26] ?? 'a'
    typed = index % 40 === 39 ? '' : typed + key
    const from = screen.raw().length
    const pressed = performance.now()
    screen.type(typed === '' ? '\u0015' : key)
    if (typed !== '') {
      await screen.untilRaw((raw) => raw.slice(from).includes(`❯ \u001b[0m${typed}`))
      delays.push(performance.now() - pressed)
    }
    await wait(20 + ((index * 7) % 23)) // at any point between two frames
  }
  const share = (cpuMs(screen.pid) - cpu) / (performance.now() - began)
  screen.type('\u0015')
  screen.type('\u001b')
  await screen.untilNot(/Esc stops/)
  const sorted = delays.toSorted((left, right) => left - right)
  return { p50: median(delays), p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, share }
}

/** Opens the same session in the process of the terminal UI itself: the store, the runtime and the screen are one process. */
async function measureOwn(folder: string) {
  const store = `sqlite:${join(folder, 'terminal.db')}`
  await using screen = openTui({ home: folder, workdir: folder }, ['-r', '--store', store])
  const opened = await measureOpen(screen)
  await wait(1000)
  const resident = residentMb(screen.pid)
  const before = cpuMs(screen.pid)
  await wait(idleMs)
  return { opened, resident, idle: cpuMs(screen.pid) - before }
}

async function measure(dir: string): Promise<readonly Row[]> {
  const plainHome = join(dir, 'plain')
  const alone = await measureStarts(plainHome, dir)
  const server = await startServerProcess({ home: plainHome, env: { HOLDFAST_LOCAL_MODELS: 'off' } })
  const served = await measureStarts(plainHome, dir)
  await server.stop()

  const long = await startLong(join(dir, 'long'))
  await using screen = openTui({ home: join(dir, 'client'), workdir: dir }, [
    ...['-r', '--url', long.url, '--token-file', join(dir, 'long/token')],
  ])
  const opened = await measureOpen(screen)
  const resident = residentMb(screen.pid)
  const typing = await measureKeys(screen)
  await wait(1000)
  const before = cpuMs(screen.pid)
  await wait(idleMs)
  const idle = cpuMs(screen.pid) - before
  const grown = residentMb(screen.pid)
  long.process.kill()
  await once(long.process, 'exit')
  const own = await measureOwn(join(dir, 'long'))
  const ms = (value: number) => `${number(value)} ms`
  return [
    row('input, without a server', `${ms(alone.input)}, session ${ms(alone.session)}`, '< 400 ms', alone.input < 400),
    row('input, with a server', `${ms(served.input)}, session ${ms(served.session)}`, '< 250 ms', served.input < 250),
    row(`open ${number(2 * turns)} messages`, ms(opened), '< 300 ms', opened < 300),
    row(
      'resident, 10,000 messages',
      `${number(resident)} MB, after streaming ${number(grown)} MB`,
      '< 150 MB',
      Math.max(resident, grown) < 150,
    ),
    row(
      `key at ${number(deltasPerSecond)} deltas/s`,
      `p50 ${number(typing.p50, 1)} ms, p99 ${number(typing.p99, 1)} ms`,
      'p99 < 30 ms',
      typing.p99 < 30,
    ),
    row(`processor at ${number(deltasPerSecond)} deltas/s`, `${number(100 * typing.share)} %`, '', null),
    row(`processor, idle for ${idleMs / 1000} s`, ms(idle), '0 ms', idle <= 10),
    row('own process: open', ms(own.opened), '< 300 ms', own.opened < 300),
    row('own process: resident', `${number(own.resident)} MB`, '< 150 MB', own.resident < 150),
    row(`own process: idle for ${idleMs / 1000} s`, ms(own.idle), '0 ms', own.idle <= 10),
  ]
}

const row = (what: string, figure: string, goal: string, holds: boolean | null): Row => ({ what, figure, goal, holds })

async function startLong(dir: string): Promise<{ url: string; session: string; process: ChildProcess }> {
  const script = join(import.meta.dirname, 'terminal/server.ts')
  const child = spawn(process.execPath, [script, dir, String(turns)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { ...(JSON.parse(String(line)) as { url: string; session: string }), process: child } // as the script prints it
}

const dir = mkdtempSync(join(tmpdir(), 'holdfast-bench-terminal-'))
process.env['HOLDFAST_TEST_BUILD'] ??= await buildProgram()
process.env['NODE_COMPILE_CACHE'] ??= join(dir, 'compiled')
try {
  const rows = await measure(dir)
  printRows(rows)
  const load = loadavg().map((one) => number(one, 1))
  process.stdout.write(`load of the machine at the end: ${load.join(', ')}\n`)
  if (rows.some(({ holds }) => holds === false)) process.exitCode = 1
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exit()
