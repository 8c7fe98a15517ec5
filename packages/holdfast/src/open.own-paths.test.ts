import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHoldfast } from './open.ts'
import { findBubblewrap } from './tools/sandbox/find-bubblewrap.ts'

const bubblewrap = await findBubblewrap(process.env['PATH'])

it('keeps the store and its mirror out of reach of file tools, also in the working directory', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-own-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const workdir = join(base, 'work')
  mkdirSync(workdir)
  const environment = { HOLDFAST_HOME: join(base, 'home'), DEMO_PACE: '0', HOLDFAST_LOCAL_MODELS: 'off' }
  const store = `sqlite:${join(workdir, 'sessions.db')}`
  await using holdfast = await openHoldfast({ store, mirror: join(workdir, 'mirror'), environment })
  const session = await holdfast.startSession({ workdir, approvals: 'none' })
  for (const path of ['sessions.db', 'sessions.db-wal', 'mirror/holdfast.json'])
    await session.prompt(`read ${path}`).text()
  const calls = (await session.messages()).flatMap((one) => (one.kind === 'tool_call' ? [one.call] : []))
  expect(calls.map(({ result }) => result?.text.split(':', 1)[0])).toEqual(
    Array.from({ length: 3 }, () => 'outside_workdir'),
  )
})

describe.each(['jsonl', 'mirror'] as const)('a %s directory with the working directory in it', (kind) => {
  it.each(['.', 'work'])('keeps only its own files out of reach (working directory %s)', async (inner) => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-own-')))
    onTestFinished(() => rmSync(base, { recursive: true, force: true }))
    const directory = join(base, 'store')
    const environment = {
      HOLDFAST_HOME: join(base, 'home'),
      DEMO_PACE: '0',
      HOLDFAST_LOCAL_MODELS: 'off',
      PATH: process.env['PATH'],
    }
    const stores = { jsonl: { store: `jsonl:${directory}` }, mirror: { mirror: directory } }
    await using holdfast = await openHoldfast({ ...stores[kind], environment })
    const workdir = join(directory, inner)
    mkdirSync(workdir, { recursive: true })
    writeFileSync(join(workdir, 'plain.txt'), 'plain words')
    const session = await holdfast.startSession({ workdir, approvals: 'none' })
    const log = relative(workdir, join(directory, `${session.id}.jsonl`))
    const asked = ['read plain.txt', 'search words', 'run cat plain.txt', `read ${log}`, 'write ses_0new.jsonl: {}']
    for (const text of [...asked, `run cat ${log}`]) await session.prompt(text).text()
    const calls = (await session.messages()).flatMap((one) => (one.kind === 'tool_call' ? [one.call] : []))
    const [read, searched, shown, ownRead, forged, ownShown] = calls.map(({ result }) => result?.text ?? '')
    expect(read).toContain('plain words')
    expect(searched).toContain('plain.txt')
    expect(shown).toContain('plain words')
    expect(ownRead).toContain('outside_workdir')
    if (inner === '.') expect(forged).toContain('outside_workdir')
    if (bubblewrap.path !== null) expect(ownShown).not.toContain('session_created')
  })
})
