import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ok } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAgents } from './agents.ts'

let root: string
let trustedNames: string[]

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-agents-')))
  await mkdir(join(root, 'work/.git'), { recursive: true })
  trustedNames = []
})
afterEach(() => rm(root, { recursive: true, force: true }))

const write = async (path: string, text: string) => {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}

const open = () =>
  createAgents({
    configDir: join(root, 'config'),
    userDir: join(root, 'home'),
    trusted: {
      items: async () => ok(trustedNames.map((name) => ({ kind: 'agent', name, hash: '', text: '', at: '' }) as never)),
      judge: async (_, offers) =>
        ok(offers.map((offer) => ({ ...offer, verdict: 'trusted', before: null, diff: null }) as never)),
    },
  })

const workdir = () => join(root, 'work')
const reviewer =
  '---\nname: reviewer\ndescription: reviews\ntools: Read, Grep, mcp__notes, Bash(git *)\nmodel: haiku\n---\nReview it.\n'

describe('a kind of agent', () => {
  it('of the user is found with its tools by our names, its model and its instructions', async () => {
    await write('config/agents/reviewer.md', reviewer)
    const found = await open().find(workdir(), 'reviewer')
    expect(found).toMatchObject({
      value: {
        model: 'haiku',
        instructions: 'Review it.',
        tools: ['read_file', 'grep', 'mcp__notes', 'shell', 'shell_output', 'shell_stop'],
      },
    })
  })

  it('of a workspace counts only once it is trusted, and never hides one that is', async () => {
    await write('work/.claude/agents/reviewer.md', reviewer)
    await write('home/.claude/agents/reviewer.md', reviewer.replace('Review it.', 'Mine.'))
    const agents = open()
    expect(await agents.find(workdir(), 'reviewer')).toMatchObject({ value: { instructions: 'Mine.' } })
    expect((await agents.list(workdir())).map(({ name, state }) => [name, state])).toEqual([
      ['reviewer', 'untrusted'],
      ['reviewer', 'listed'],
      ['general', 'listed'],
    ])
    trustedNames = ['.claude/agents/reviewer.md']
    expect(await agents.find(workdir(), 'reviewer')).toMatchObject({ value: { instructions: 'Review it.' } })
    expect((await agents.list(workdir()))[1]).toMatchObject({ state: 'shadowed' })
  })

  it('that nobody trusts is refused with what to do, and an unknown one with the names', async () => {
    await write('work/.holdfast/agents/reviewer.md', reviewer)
    expect(await open().find(workdir(), 'reviewer')).toMatchObject({ fault: { code: 'untrusted_workspace' } })
    expect(await open().find(workdir(), 'reviwer')).toMatchObject({ ok: false })
    expect(await open().find(workdir(), 'nothing')).toMatchObject({
      fault: { message: 'There is no agent nothing. There are: general.' },
    })
  })

  it('says what is wrong with its file, and that nothing in it widens what its parent may do', async () => {
    await write('config/agents/bad name.md', '---\ndescription: x\npermissionMode: bypassPermissions\n---\nx')
    await write('config/agents/silent.md', 'No description.')
    const [bad, silent] = await open().list(workdir())
    expect(bad).toMatchObject({ state: 'unusable' })
    expect(bad?.problems.map(({ message }) => message).join()).toContain('permissionMode has no effect')
    expect(silent).toMatchObject({
      state: 'unusable',
      problems: [{ message: expect.stringContaining('no description') }],
    })
  })

  it('is offered for trust with its whole text', async () => {
    await write('work/.claude/agents/deep/reviewer.md', reviewer)
    const [offer] = await open().offers({ workdir: workdir(), workspace: workdir() })
    expect(offer).toMatchObject({ kind: 'agent', name: '.claude/agents/deep/reviewer.md', text: reviewer })
  })
})
