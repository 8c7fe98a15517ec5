import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../testkit/src/contracts/tool.ts'
import { type CommandHook, runHook } from './run-hook.ts'

const environment = { PATH: process.env['PATH'] ?? '' }
const run = async (hook: CommandHook, input: unknown = {}, signal: AbortSignal = notAborted) => {
  const { workdir } = await openWorkdir()
  return { workdir, end: await runHook(hook, input, { cwd: workdir, environment, signal }) }
}

describe('a hook', () => {
  it('gets its input as JSON on standard input, and answers by exit code and output', async () => {
    const { end } = await run({ command: 'cat; echo no >&2; exit 2' }, { tool_name: 'Bash' })
    expect(end).toEqual({ type: 'exited', code: 2, stdout: '{"tool_name":"Bash"}', stderr: 'no' })
  })

  it('with arguments runs without a shell', async () => {
    const { end } = await run({ command: 'printf', args: ['[%s]', '$(id); x'] })
    expect(end).toMatchObject({ code: 0, stdout: '[$(id); x]' })
  })

  it('need not read its input, however long', async () => {
    const { end } = await run({ command: 'exit 0' }, { text: 'x'.repeat(5_000_000) })
    expect(end).toMatchObject({ type: 'exited', code: 0 })
  })

  it('that hangs is ended with its children', async () => {
    const { end, workdir } = await run({ command: 'sleep 1000 & echo $! > pid; wait', timeoutMs: 300 })
    expect(end).toMatchObject({ type: 'failed', why: 'the hook took too long' })
    const pid = Number(await readFile(join(workdir, 'pid'), 'utf8'))
    await expect.poll(() => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'gone')).toMatch(/gone|\) Z /)
  })

  it('that prints without end is stopped', async () => {
    expect((await run({ command: 'yes' })).end).toMatchObject({
      type: 'failed',
      why: expect.stringMatching(/more than 1048576 bytes/),
    })
  })

  it('has ended when its process exits, although another one holds its output', async () => {
    const leave = `require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' })`
    const script = `const left = ${leave}; console.log(left.pid); left.unref()`
    const { end } = await run({ command: process.execPath, args: ['-e', script] })
    expect(end).toMatchObject({ type: 'exited', code: 0 })
    process.kill(Number(end.type === 'exited' && end.stdout))
  })

  it('that does not exist, dies or is aborted has failed', async () => {
    expect((await run({ command: '/no/such/program', args: [] })).end).toMatchObject({
      why: 'the hook cannot be started: ENOENT',
    })
    expect((await run({ command: 'kill -9 $$' })).end).toMatchObject({ why: 'the hook was ended by a signal' })
    expect((await run({ command: 'sleep 1000' }, {}, AbortSignal.abort())).end).toMatchObject({
      why: 'the turn was stopped',
    })
  })
})
