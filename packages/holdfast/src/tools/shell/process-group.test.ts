import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { spawnGate } from './gate.ts'
import { endLeftover, signalGroup } from './process-group.ts'
import { livingMembers } from './process-table.ts'

const environment = { PATH: process.env['PATH'] ?? '' }

async function openGate(command: string) {
  const { workdir } = await openWorkdir()
  const gate = await spawnGate(command, { cwd: workdir, environment })
  onTestFinished(() => signalGroup(gate.mark.group, 'SIGKILL'))
  gate.open()
  await once(gate.output, 'data')
  return { ...gate, workdir }
}

const untilDead = (group: number) => expect.poll(() => livingMembers(group), { timeout: 5000 }).toEqual([])

describe.runIf(process.platform === 'linux')('a leftover', () => {
  it('is ended with its whole group while its leader lives', async () => {
    const { mark } = await openGate('sleep 1000 & echo ready; wait')
    await endLeftover(mark)
    await untilDead(mark.group)
  })

  it('is ended when only its leader is dead', async () => {
    const { mark, gone } = await openGate('sleep 1000 & echo ready; wait')
    process.kill(mark.group, 'SIGKILL')
    await gone
    expect(await livingMembers(mark.group)).not.toEqual([])
    await endLeftover(mark)
    await untilDead(mark.group)
  })

  it('is left alone when it is a stranger with the same number', async () => {
    const { mark } = await openGate('echo ready; sleep 1000')
    const [bootId, ticks] = mark.startedAt.split('/')
    for (const startedAt of [`${bootId}/${Number(ticks) - 1}`, `other-boot/${ticks}`, 'unknown', ''])
      await endLeftover({ ...mark, startedAt })
    expect((await livingMembers(mark.group)).map(({ pid }) => pid)).toContain(mark.group)
  })

  it('is left alone when its leader is gone and its members carry another mark', async () => {
    const { mark, gone } = await openGate('sleep 1000 & echo ready; wait')
    process.kill(mark.group, 'SIGKILL')
    await gone
    await endLeftover({ ...mark, startedAt: `${mark.startedAt}1` })
    expect(await livingMembers(mark.group)).not.toEqual([])
  })

  it('may be gone already', async () => {
    const { mark, gone } = await openGate('echo ready')
    signalGroup(mark.group, 'SIGKILL')
    await gone
    await expect(endLeftover(mark)).resolves.toBeUndefined()
  })
})

describe('the gate', () => {
  it('runs nothing when we die before it is opened', async () => {
    const { workdir } = await openWorkdir()
    const program = `
      const { spawnGate } = await import(${JSON.stringify(join(import.meta.dirname, 'gate.ts'))})
      const gate = await spawnGate('touch made', { cwd: ${JSON.stringify(workdir)}, environment: process.env })
      console.log(gate.mark.group)
      setInterval(() => undefined, 1000)`
    const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void owner.kill('SIGKILL'))
    const [line] = await once(owner.stdout, 'data')
    const group = Number(String(line))
    expect((await livingMembers(group)).length).toBe(1)
    owner.kill('SIGKILL')
    await untilDead(group)
    expect(await readdir(workdir)).toEqual([])
  })
})
