import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { livingMembers } from './process-group.ts'
import { type ProgramOptions, startProgram } from './program.ts'

async function start(script: string, options: Partial<ProgramOptions> = {}) {
  const { workdir } = await openWorkdir()
  const environment = { PATH: process.env['PATH'] ?? '' }
  const given = { cwd: workdir, environment, signal: notAborted, timeoutMs: 60_000, ...options }
  return { workdir, program: await startProgram('/bin/sh', ['-c', script], given) }
}

async function readText(output: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(output)).toString()
}

async function readGroup(output: AsyncIterable<Buffer>): Promise<number> {
  for await (const chunk of output) return Number(String(chunk))
  return expect.fail('it said no group')
}

describe('a program', () => {
  it('gives its output, its errors and its exit code', async () => {
    const { program } = await start('echo out; echo bad >&2; exit 3')
    expect(await readText(program.output)).toBe('out\n')
    expect(await program.ended).toEqual({ type: 'exited', code: 3, errors: 'bad' })
  })

  it('gets its arguments without a shell, and no input unless there is some', async () => {
    expect(await readText((await start('cat')).program.output)).toBe('')
    expect(await readText((await start('cat', { input: 'given' })).program.output)).toBe('given')
  })

  it('has ended when it exits, although a process that left its group still holds its pipes', async () => {
    const leave = `require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' })`
    const { program } = await start(
      `"${process.execPath}" -e "const left = ${leave}; console.log(left.pid); left.unref()"; echo bad >&2; exit 3`,
    )
    const other = await readGroup(program.output)
    try {
      expect(await program.ended).toEqual({ type: 'exited', code: 3, errors: 'bad' })
    } finally {
      process.kill(other)
    }
  })

  it('is killed with its children at an abort', async () => {
    const controller = new AbortController()
    const { program } = await start('sleep 1000 & echo $$; sleep 1000', { signal: controller.signal })
    const group = await readGroup(program.output)
    controller.abort()
    expect(await program.ended).toMatchObject({ type: 'aborted', code: null })
    await expect.poll(() => livingMembers(group)).toEqual([])
  })

  it('is ended at its timeout, and when enough is read', async () => {
    const late = await start('sleep 1000', { timeoutMs: 10 })
    expect(await readText(late.program.output)).toBe('')
    expect(await late.program.ended).toMatchObject({ type: 'timed out' })
    const endless = await start('yes')
    for await (const _ of endless.program.output) break
    endless.program.stop()
    expect(await endless.program.ended).toMatchObject({ type: 'stopped' })
  })

  it('may clean up before it is killed', async () => {
    const controller = new AbortController()
    const script = 'trap "echo clean > cleaned; exit 0" TERM; echo $$; sleep 1000 & wait'
    const { workdir, program } = await start(script, { signal: controller.signal, graceMs: 10_000 })
    await readGroup(program.output)
    controller.abort()
    expect(await program.ended).toMatchObject({ type: 'aborted' })
    expect(await readFile(join(workdir, 'cleaned'), 'utf8')).toBe('clean\n')
  })

  it('does not wait for a child that keeps the output open', async () => {
    const { program } = await start('sleep 1000 & echo said')
    expect(await readText(program.output)).toBe('said\n')
    expect(await program.ended).toMatchObject({ type: 'exited', code: 0 })
  })

  it('that does not exist is a system error', async () => {
    const { workdir } = await openWorkdir()
    const options = { cwd: workdir, environment: {}, signal: notAborted, timeoutMs: 1000 }
    await expect(startProgram('/no/such/program', [], options)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
