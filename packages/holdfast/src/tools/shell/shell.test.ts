import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, ToolRun } from '@holdfast/core/ports'
import { invariant, ok, SessionId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { wallClock } from '../../system/wall-clock.ts'
import { livingMembers, tellEscaped } from '../program/process-group.ts'
import { createBackgroundShells } from './background-shells.ts'
import type { Confinement } from './confinement.ts'
import { createShell, type ShellDeps } from './shell.ts'

const environment = { PATH: process.env['PATH'] }

async function shell(command: string, parts: Partial<ShellDeps> = {}, run: Partial<ToolRun> = {}) {
  const { workdir } = await openWorkdir()
  const made = createToolRun(run)
  const args = { command, timeout: 300 }
  const result = await createShell({ environment, ...parts }).run(args, { workdir }, made.run)
  return { ...made, result, text: result.output.text, workdir }
}

/** Returns the output files that this process holds open. */
async function openOutputs(): Promise<readonly string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  return (await Promise.all(links)).filter((target) => target.includes('.output-'))
}

/** Timers of one length fire when the test says so; all others are real. */
function createHandTimer(delayMs: number) {
  const waiting: (() => void)[] = []
  const after: Clock['after'] = (delay, call) => {
    if (delay !== delayMs) return wallClock.after(delay, call)
    waiting.push(call)
    return () => undefined
  }
  return { after, fire: () => waiting.shift()?.() }
}

/** Aborts, or whatever is to happen, once the command has said that it is ready. */
const onReady = (act: () => void) => {
  let seen = ''
  return (text: string) => {
    const before = seen.includes('ready')
    seen += text
    if (!before && seen.includes('ready')) act()
  }
}

type Marks = ReturnType<typeof createToolRun>['marks']

const markOf = ([mark]: Marks) => {
  invariant(mark, 'the shell named its process')
  return mark
}

const groupOf = (marks: Marks) => markOf(marks).group

describe('shell', () => {
  it('returns both outputs in the order they were written, and shows them live', async () => {
    const { result, shown } = await shell('echo a; echo b >&2; echo c; echo d > /dev/stderr')
    expect(result).toEqual({ type: 'ok', output: { text: 'a\nb\nc\nd\n' } })
    expect(shown.join('')).toBe('a\nb\nc\nd\n')
  })

  it.each([
    ['exit 3', 'exit code 3'],
    ['printf half; exit 1', 'half\nexit code 1'],
    ['no-such-command-here 2>/dev/null', 'exit code 127'],
    ['kill -9 $$', expect.stringMatching(/exit code 137$/)],
    ['kill -9 0', 'killed, with its whole process group'],
  ])('fails with its exit code: %s', async (command, text) => {
    expect((await shell(command)).result).toEqual({ type: 'failed', output: { text } })
  })

  it('passes the command unchanged', async () => {
    const command = `printf '%s' "it's \\"quoted\\" \\$HOME \`echo x\` 🐢"; echo "$#"`
    expect((await shell(command)).text).toBe('it\'s "quoted" $HOME x 🐢0\n')
  })

  it('runs in the workdir, without input or terminal', async () => {
    const { text, workdir } = await shell('pwd; cat; [ -t 1 ] || echo no terminal')
    expect(text).toBe(`${workdir}\nno terminal\n`)
  })

  it('gives commands no credentials', async () => {
    const secrets = { GITHUB_PAT: 'hush', DATABASE_URL: 'postgres://u:hush@h/d' }
    const { text } = await shell('env', { environment: { ...environment, ...secrets, LANG: 'C' } })
    expect(text).not.toContain('hush')
    expect(text).toContain('LANG=C\n')
    for (const entry of ['PAGER=cat', 'GIT_PAGER=cat', 'TERM=dumb']) expect(text).toContain(`${entry}\n`)
  })

  it('returns five megabytes without losing a byte', async () => {
    const { text } = await shell('head -c 5000000 /dev/zero | tr "\\0" x')
    expect(text.length).toBe(5_000_000)
    expect(text).toMatch(/^x+$/)
  })

  it('kills a command that writes more than can be kept', async () => {
    const { text, result, marks } = await shell('yes', { outputBytesMax: 100_000 })
    expect(result.type).toBe('failed')
    expect(text.slice(-60)).toMatch(/y\n.*killed: it wrote more output than can be kept$/s)
    expect(await livingMembers(groupOf(marks))).toEqual([])
  })

  it('stores 200 MB without holding them in memory', async () => {
    const before = process.memoryUsage().rss
    let [bytes, peak] = [0, before]
    const storeOutput: ToolRun['storeOutput'] = async (output) => {
      for await (const piece of output) {
        bytes += piece.length
        peak = Math.max(peak, process.memoryUsage().rss)
      }
      return { text: '' }
    }
    const { shown } = await shell('head -c 200000000 /dev/zero', {}, { storeOutput })
    expect(bytes).toBe(200_000_000)
    expect(peak - before).toBeLessThan(100_000_000)
    expect(shown.join('').length).toBeLessThan(10_000_000)
  })

  it('keeps its output when a program of the command opens it again', async () => {
    expect((await shell('echo a; echo b | tee /dev/stderr; echo c > /dev/stdout')).text).toBe('a\nb\nb\nc\n')
  })

  it('settles when the command has ended, with all it has written, while its background still writes', async () => {
    const { text } = await shell('(while :; do echo never; sleep 1000; done) & sleep 0; seq 1 20000; echo last')
    expect(text.replace('never\n', '')).toMatch(/^1\n.*20000\nlast\n$/s)
  })

  it('shows the model text without colours and overwritten lines, and stores the bytes', async () => {
    const texts: (string | undefined)[] = []
    const storeOutput: ToolRun['storeOutput'] = async (output, toText) => {
      const raw = Buffer.concat(await Array.fromAsync(output)).toString()
      texts.push(raw, toText?.(raw))
      return { text: raw }
    }
    await shell("printf '10%%\\r100%%\\n\\033[31mred\\033[0m\\n'", {}, { storeOutput })
    expect(texts).toEqual(['10%\r100%\n\u001b[31mred\u001b[0m\n', '100%\nred\n'])
  })

  it.each([
    ['grep no-such /dev/null', 'ok'],
    ["echo x | grep 'a|b'", 'ok'],
    ['diff /dev/null /etc/passwd > /dev/null', 'ok'],
    ['test 1 = 2', 'ok'],
    ['grep -x x /no/such/file', 'failed'],
    ['grep no-such /dev/null && false; false', 'failed'],
  ])('counts exit code 1 of a question as an answer: %s', async (command, type) => {
    expect((await shell(command)).result.type).toBe(type)
  })

  it('ends promptly and kills its background processes', async () => {
    const { text, result, marks } = await shell('sleep 1000 & sleep 1000 >/dev/null 2>&1 & echo done')
    expect({ text, type: result.type }).toEqual({ text: 'done\n', type: 'ok' })
    expect(await livingMembers(groupOf(marks))).toEqual([])
  })

  it('kills the whole group on abort and keeps the output so far', async () => {
    const controller = new AbortController()
    const show = onReady(() => controller.abort())
    const { result, marks } = await shell(
      'trap "" TERM INT; sleep 1000 & (sleep 1000; echo never) & echo ready; wait',
      {},
      { signal: controller.signal, show },
    )
    expect(result).toEqual({ type: 'failed', output: { text: 'ready\naborted' } })
    expect(await livingMembers(groupOf(marks))).toEqual([])
  })

  it('sends SIGKILL at once on abort: no command gets a signal that it can ignore, and no timer of more than 200 ms', async () => {
    const controller = new AbortController()
    const delays: number[] = []
    /** After the abort, long timers never fire. */
    const after: Clock['after'] = (delay, call) => {
      if (controller.signal.aborted) delays.push(delay)
      return controller.signal.aborted && delay > 200 ? () => undefined : wallClock.after(delay, call)
    }
    const { text, marks } = await shell(
      'trap "echo term" TERM; echo ready; while :; do sleep 1000 & wait; done',
      { after },
      { signal: controller.signal, show: onReady(() => controller.abort()) },
    )
    expect(text).toBe('ready\naborted')
    expect(delays.filter((delay) => delay > 200)).toEqual([])
    expect(await livingMembers(groupOf(marks))).toEqual([])
  })

  it('returns on abort even if the output cannot be stored, and holds no file open', async () => {
    const controller = new AbortController()
    const held: unknown[] = [] // else the garbage collector may close the file
    const storeOutput: ToolRun['storeOutput'] = async (output) => {
      held.push(output)
      controller.abort()
      return new Promise(() => undefined)
    }
    const { result, marks } = await shell('echo said', {}, { signal: controller.signal, storeOutput })
    expect(result.type).toBe('failed')
    expect(await livingMembers(groupOf(marks))).toEqual([])
    await expect.poll(openOutputs).toEqual([])
    expect(held).toHaveLength(1)
  })

  it('fails when the output cannot be stored, and leaves nothing running', async () => {
    const storeOutput = () => Promise.reject(new Error('disk full'))
    const { result, marks } = await shell('sleep 1000 & echo said', {}, { storeOutput })
    expect(result).toMatchObject({ type: 'failed', output: { text: expect.stringContaining('disk full') } })
    expect(await livingMembers(groupOf(marks))).toEqual([])
  })

  it('sends SIGTERM at the timeout and reads the last output', async () => {
    const { after, fire } = createHandTimer(300_000)
    const { result } = await shell(
      'trap "echo bye; exit 0" TERM; echo ready; sleep 1000 & wait',
      { after },
      { show: onReady(fire) },
    )
    expect(result.type).toBe('failed')
    expect(result.output.text).toMatch(/^ready\n(Terminated\n)?bye\ntimed out after 300 s$/)
  })

  it('kills a command that ignores SIGTERM at the timeout', async () => {
    const { after: byHand, fire } = createHandTimer(300_000)
    const graceMs = 2000
    const after: Clock['after'] = (delay, call) => byHand(delay === graceMs ? 1 : delay, call)
    const command = 'trap "" TERM; echo ready; while :; do sleep 1000; done'
    const { result, marks } = await shell(command, { after }, { show: onReady(fire) })
    expect(result).toEqual({ type: 'failed', output: { text: 'ready\ntimed out after 300 s' } })
    expect(await livingMembers(groupOf(marks))).toEqual([])
  })

  describe.runIf(process.platform === 'linux')('reports processes that left the group and still run', () => {
    const leave = "setsid sh -c 'echo $$ > pid; echo ready; exec sleep 1000'"

    async function runEscape(command: string, parts: Partial<ShellDeps> = {}, run: Partial<ToolRun> = {}) {
      const { result, workdir } = await shell(command, parts, run)
      const pid = Number(await readFile(join(workdir, 'pid'), 'utf8'))
      process.kill(pid, 'SIGKILL') // throws unless it lives
      const leftRunning = `still running outside its process group: ${pid} (sleep)`
      return { result, leftRunning }
    }

    it('on abort', async () => {
      const controller = new AbortController()
      const show = onReady(() => controller.abort())
      const { result, leftRunning } = await runEscape(`${leave} & wait`, {}, { signal: controller.signal, show })
      expect(result).toEqual({
        type: 'failed',
        output: { text: `ready\naborted\n${leftRunning}` },
        leftRunning,
      })
    })

    it('on abort when the output cannot be stored', async () => {
      const controller = new AbortController()
      const storeOutput: ToolRun['storeOutput'] = () => new Promise(() => undefined)
      const show = onReady(() => controller.abort())
      const run = { signal: controller.signal, storeOutput, show }
      const { result, leftRunning } = await runEscape(`${leave} & wait`, {}, run)
      expect(result).toEqual({ type: 'failed', output: { text: 'aborted' }, leftRunning })
    })

    it('at the timeout', async () => {
      const { after, fire } = createHandTimer(300_000)
      const { result, leftRunning } = await runEscape(`${leave} & wait`, { after }, { show: onReady(fire) })
      expect(result).toMatchObject({ type: 'failed', leftRunning })
      expect(result.output.text).toMatch(/^ready\n(Terminated\n)?timed out after 300 s\nstill running/)
    })

    it('at a normal end', async () => {
      const { result, leftRunning } = await runEscape(`${leave} >/dev/null & until [ -s pid ]; do :; done; echo done`)
      expect(result).toEqual({ type: 'ok', output: { text: `done\n${leftRunning}` }, leftRunning })
    })

    it('even if they left just before the end', async () => {
      for (let round = 0; round < 20; round++) {
        const { result, marks } = await shell('setsid sleep 1000 >/dev/null 2>&1 & echo done')
        const now = await tellEscaped(markOf(marks))
        const pid = /group: (\d+)/.exec(now ?? '')?.[1]
        if (pid !== undefined) process.kill(Number(pid), 'SIGKILL')
        expect(pid).toBe(/group: (\d+)/.exec(result.leftRunning ?? '')?.[1])
      }
    })
  })

  it('releases its confinement when it ends or cannot start, and holds no file open if that fails', async () => {
    const { workdir } = await openWorkdir()
    let released = 0
    const confinedAs = (argv: readonly string[], fails: boolean): Confinement => ({
      judge: async () => ok({ isInForce: false, network: true }),
      describe: () => '',
      wrap: async () => {
        const release = async () => {
          released++
          if (fails) throw new Error('the disk is gone')
        }
        return ok({ argv, wrapper: undefined, release, note: null })
      },
    })
    const tooLong = ['/bin/true', 'x'.repeat(1024 * 1024)]
    const before = await openOutputs()
    for (const [argv, fails] of [
      [['/bin/true'], false],
      [['/bin/true'], true],
      [tooLong, false],
      [tooLong, true],
    ] as const) {
      released = 0
      const tool = createShell({ environment, confinement: confinedAs(argv, fails) })
      const result = await tool.run({ command: 'true' }, { workdir }, createToolRun().run)
      expect(result.type).toBe(argv === tooLong ? 'failed' : 'ok')
      if (argv === tooLong) expect(result.output.text).toContain('E2BIG')
      expect({ fails, released }).toEqual({ fails, released: 1 })
    }
    expect(await openOutputs()).toEqual(before)
  })

  it('leaves no gate running when begin rejects', async () => {
    const { workdir } = await openWorkdir()
    let group = 0
    const { run } = createToolRun({
      begin: async (mark) => {
        group = mark?.group ?? 0
        throw new Error('no longer wanted')
      },
    })
    const running = createShell({ environment }).run({ command: 'touch made' }, { workdir }, run)
    await expect(running).rejects.toThrow('no longer wanted')
    expect(group).toBeGreaterThan(1)
    expect(await livingMembers(group)).toEqual([])
    expect(await readdir(workdir)).toEqual([])
  })

  it('shows the command and where it runs', async () => {
    const { workdir } = await openWorkdir()
    const prepared = await createShell({ environment }).prepare({ command: 'ls' }, { workdir }, notAborted)
    expect(prepared).toEqual({
      type: 'ready',
      args: { command: 'ls', timeout: 120, background: false },
      preview: { type: 'command', command: 'ls', cwd: workdir },
    })
  })

  it('says in its preview that the command goes on in the background', async () => {
    const { workdir } = await openWorkdir()
    const background = createBackgroundShells({ records: null, now: () => 0 })
    const context = { workdir, session: SessionId.parse(`ses_0${'4'.repeat(25)}`) }
    const tool = createShell({ environment, background })
    const prepared = await tool.prepare({ command: 'ls', background: true }, context, notAborted)
    expect(prepared).toMatchObject({ preview: { command: 'ls', cwd: workdir, background: true } })
  })

  it.each([0, 601, 1.5, '30'])('refuses a timeout of %j', async (timeout) => {
    const { workdir } = await openWorkdir()
    const prepared = await createShell({ environment }).prepare({ command: 'ls', timeout }, { workdir }, notAborted)
    expect(prepared).toMatchObject({ type: 'unusable', message: expect.stringContaining('timeout must be') })
  })
})
