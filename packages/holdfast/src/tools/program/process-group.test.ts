import { describe, expect, it, onTestFinished } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { spawnGate } from '../shell/gate.ts'
import { createOutputFile } from '../shell/output/output-file.ts'
import { endLeftover, livingMembers, signalGroup } from './process-group.ts'

const environment = { PATH: process.env['PATH'] ?? '' }

async function openGate(command: string) {
  const { workdir } = await openWorkdir()
  const output = await createOutputFile()
  onTestFinished(() => output.close())
  const gate = await spawnGate(['/bin/sh', '-c', command], { cwd: workdir, environment, output: output.fd })
  onTestFinished(() => signalGroup(gate.mark.group, 'SIGKILL'))
  gate.open()
  await expect.poll(() => output.size(), { timeout: 15_000, interval: 5 }).toBeGreaterThan(0)
  return { ...gate, workdir }
}

/** A process group with only a child of the command: its leader and the watcher were killed, so they did not end it. */
async function openOrphan() {
  const gate = await openGate('sleep 1000 & echo ready; wait')
  const isSleep = ({ name }: { readonly name: string }) => name === 'sleep'
  const hasSleep = async () => (await livingMembers(gate.mark.group)).some(isSleep)
  await expect.poll(hasSleep, { timeout: 15_000 }).toBe(true)
  for (const member of await livingMembers(gate.mark.group)) if (!isSleep(member)) process.kill(member.pid, 'SIGKILL')
  await gate.gone
  return gate
}

const untilDead = (group: number) => expect.poll(() => livingMembers(group), { timeout: 15_000 }).toEqual([])

describe.runIf(process.platform === 'linux')('a leftover', () => {
  it('is ended with its whole group while its leader lives', async () => {
    const { mark } = await openGate('sleep 1000 & echo ready; wait')
    await endLeftover(mark)
    await untilDead(mark.group)
  })

  it('is ended when its leader is dead', async () => {
    const { mark } = await openOrphan()
    expect(await livingMembers(mark.group)).not.toEqual([])
    await endLeftover(mark)
    await untilDead(mark.group)
  })

  it('is left alone when another process has its pid', async () => {
    const { mark } = await openGate('echo ready; sleep 1000')
    const [bootId, ticks] = mark.startedAt.split('/')
    for (const startedAt of [`${bootId}/${Number(ticks) - 1}`, `other-boot/${ticks}`, 'unknown', ''])
      await endLeftover({ ...mark, startedAt })
    expect((await livingMembers(mark.group)).map(({ pid }) => pid)).toContain(mark.group)
  })

  it('is left alone when its leader is gone and its members carry another mark', async () => {
    const { mark } = await openOrphan()
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
