import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { livingMembers, signalGroup } from '../program/process-group.ts'
import { readProcess } from '../program/process-table.ts'
import { spawnGate } from './gate.ts'
import { createOutputFile } from './output/output-file.ts'

const fileHere = (name: string) => JSON.stringify(join(import.meta.dirname, name))
const untilDead = (group: number) => expect.poll(() => livingMembers(group), { timeout: 15_000 }).toEqual([])

/** A process that owns a gate, says the gate's group in its first line, and lives until it is killed. */
async function openOwner(program: string) {
  const owner = spawn(
    process.execPath,
    ['--input-type=module', '-e', `setInterval(() => undefined, 1000)\n${program}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  onTestFinished(() => void owner.kill('SIGKILL'))
  const lines = createInterface(owner.stdout)[Symbol.asyncIterator]()
  const group = Number((await lines.next()).value)
  expect(group).toBeGreaterThan(1)
  onTestFinished(() => signalGroup(group, 'SIGKILL'))
  return { owner, lines, group }
}

const runShell = (command: string, workdir: string) => `
  const { createShell } = await import(${fileHere('shell.ts')})
  await createShell({ environment: process.env }).run(
    { command: ${JSON.stringify(command)} },
    { workdir: ${JSON.stringify(workdir)} },
    {
      signal: new AbortController().signal,
      begin: async ({ group }) => console.log(group),
      show: (text) => process.stdout.write(text),
      storeOutput: async (output) => {
        for await (const _ of output);
        return { text: '' }
      },
    },
  )`

describe.runIf(process.platform === 'linux')('the gate, when its owner is killed', () => {
  it('runs nothing if it was not opened yet', async () => {
    const { workdir } = await openWorkdir()
    const { owner, group } = await openOwner(`
      const { spawnGate } = await import(${fileHere('gate.ts')})
      const { createOutputFile } = await import(${fileHere('output/output-file.ts')})
      const { fd: output } = await createOutputFile()
      const argv = ['/bin/sh', '-c', 'touch made']
      const gate = await spawnGate(argv, { cwd: ${JSON.stringify(workdir)}, environment: process.env, output })
      console.log(gate.mark.group)`)
    expect((await livingMembers(group)).length).toBe(1)
    owner.kill('SIGKILL')
    await untilDead(group)
    expect(await readdir(workdir)).toEqual([])
  })

  it.each([
    ['silent', 'echo ready; sleep 1000'],
    ['deaf', 'trap "" TERM HUP INT QUIT; sleep 1000 & echo ready; while :; do sleep 1000; done'],
    ['ended but for its background', 'nohup sleep 1000 >/dev/null 2>&1 & sleep 1000 & echo ready'],
    ['closing its output', 'echo ready; exec >/dev/null 2>&1; sleep 1000'],
    ['signalling its group', 'trap "" TERM; kill 0; echo ready; sleep 1000'],
  ])('ends a command that is %s', async (_, command) => {
    const { workdir } = await openWorkdir()
    const { owner, lines, group } = await openOwner(runShell(command, workdir))
    expect((await lines.next()).value).toBe('ready')
    owner.kill('SIGKILL')
    await untilDead(group)
  })

  it('ends a command that has killed its leader', async () => {
    const { workdir } = await openWorkdir()
    const { owner, group } = await openOwner(
      runShell(`kill -9 "$(ps -o pgid= -p $$ | tr -d ' ')"; sleep 1000`, workdir),
    )
    // The owner must not die first: then the leader would be there to end the command.
    await expect.poll(async () => (await readProcess(group))?.isDead ?? true, { timeout: 15_000 }).toBe(true)
    owner.kill('SIGKILL')
    await untilDead(group)
  })
})

describe('the gate', () => {
  async function runGate(command: string) {
    const { workdir } = await openWorkdir()
    const output = await createOutputFile()
    onTestFinished(() => output.close())
    const environment = { PATH: process.env['PATH'] ?? '' }
    const argv = ['/bin/sh', '-c', command]
    const gate = await spawnGate(argv, { cwd: workdir, environment, output: output.fd })
    onTestFinished(() => signalGroup(gate.mark.group, 'SIGKILL'))
    gate.open()
    const code = await gate.exitCode
    const read = async () => Buffer.concat(await Array.fromAsync(output.read(0))).toString()
    await expect.poll(read, { timeout: 15_000, interval: 5 }).toContain(gate.endMark)
    return { text: (await read()).replace(gate.endMark, ''), code }
  }

  it('ends the output with the command, while the watcher stays', async () => {
    expect(await runGate('echo said; exit 7')).toEqual({ text: 'said\n', code: 7 })
  })

  it('lets the command receive SIGINT', async () => {
    expect(await runGate('trap "echo heard; exit 5" INT; kill -INT $$')).toEqual({ text: 'heard\n', code: 5 })
  })

  it.runIf(process.platform === 'linux')('does not show the mark after the output to the command', async () => {
    // A command that knew the mark could end its own output early.
    const { text } = await runGate('cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr "\\0" "\\n"; echo end')
    expect(text).toContain('gate')
    expect(text).toMatch(/end\n$/)
    expect(text).not.toContain('\u001e')
  })

  it.runIf(process.platform === 'linux')('gives the command no input and none of our pipes', async () => {
    const command = 'readlink /proc/$$/fd/0; ls -l /proc/$$/fd | grep socket'
    expect((await runGate(command)).text).toBe('/dev/null\n')
  })
})
