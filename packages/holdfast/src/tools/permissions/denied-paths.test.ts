import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolArgs } from '@holdfast/core/ports'
import { invariant, orThrow, type Permission } from '@holdfast/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { createToolRun, openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { createMemory } from '../../context/memory/memory.ts'
import { createTools } from '../tools.ts'
import { createPermissions } from './permissions.ts'

let workdir = ''
let rules = createPermissions({ file: '' })
const write = (path: string, text: string) => writeFileSync(join(workdir, path), text)
const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: workdir })

beforeEach(async () => {
  const opened = await openWorkdir()
  workdir = opened.workdir
  rules = createPermissions({ file: join(workdir, '..', 'config', 'permissions.json') })
  mkdirSync(join(workdir, 'secrets/deep'), { recursive: true })
  write('.env', 'KEY=env\n')
  write('secrets/deep/a.txt', 'KEY=deep\n')
  write('open.txt', 'KEY=open\n')
})

const deny = async (tool: string, pattern: string) => orThrow(await rules.add({ verdict: 'deny', tool, pattern }))

/** Runs a tool that no rule denies as a whole, and returns its text. */
async function run(name: string, args: ToolArgs, permissions: readonly Permission[] = []): Promise<string> {
  const memory = createMemory({ userFile: '/nonexistent/MEMORY.md', now: () => 0 })
  const tool = createTools({ environment: process.env, memory, readRules: rules }).find(name)
  invariant(tool, `no tool ${name}`)
  const { output } = await tool.run(args, { workdir, permissions }, createToolRun().run)
  return output.text
}

describe('a rule that denies a path', () => {
  it.each([
    { pattern: 'KEY', hidden: true },
    { pattern: 'KEY', glob: '.env' },
    { pattern: 'KEY', glob: '{.env,secrets/**}' },
    { pattern: 'KEY', path: 'secrets' },
    { pattern: 'KEY', path: '.env' },
    { pattern: 'KEY', hidden: true, mode: 'count' },
    { pattern: 'KEY', hidden: true, mode: 'files' },
  ])('keeps grep from it: %j', async (args) => {
    await deny('read_file', '.env')
    await deny('*', 'secrets/**')
    const text = await run('grep', args)
    expect(text).not.toMatch(/KEY=env|KEY=deep|\.env\b|secrets\//)
    expect(text).toMatch(/paths? (?:was|were) left out by a deny rule/)
  })

  it('lets grep say how many paths it left out, and nothing about what is in them', async () => {
    await deny('*', '.env')
    await deny('*', 'secrets/**')
    const found = await run('grep', { pattern: 'KEY', hidden: true })
    expect(found).toBe('open.txt\n1:KEY=open\n[2 paths were left out by a deny rule]')
    const guesses = ['KEY=env', 'KEY=other'].map((pattern) => run('grep', { pattern, hidden: true }))
    const [right, wrong] = await Promise.all(guesses)
    expect(right).toBe(wrong)
    const [seen, unseen] = await Promise.all(['KEY=env', 'KEY=other'].map((pattern) => run('grep', { pattern })))
    expect(seen).toBe(unseen)
  })

  it.each(['open.txt', 'o*', 'open.t?t'])(
    'keeps grep from it by a name that a command could have: %s',
    async (name) => {
      await deny('*', name)
      expect(await run('grep', { pattern: 'KEY' })).not.toContain('KEY=open')
      expect(await run('find', { pattern: '*' })).not.toContain('open.txt')
    },
  )

  it('keeps find from it', async () => {
    await deny('*', 'secrets/**')
    const found = await run('find', { pattern: '*.txt' })
    expect(found).toBe('open.txt\n[1 path was left out by a deny rule]')
    expect(await run('find', { pattern: '*', type: 'any' })).not.toContain('secrets')
  })

  it('keeps git_diff from it, staged or not, whatever its name is', async () => {
    git('init', '-q', '.')
    write(':(top)x*.pem', 'KEY=before\n')
    git('add', '-A')
    git('-c', 'user.name=n', '-c', 'user.email=e@x', 'commit', '-qm', 'first')
    await deny('*', '.env')
    await deny('*', '*.pem')
    for (const path of ['.env', ':(top)x*.pem']) write(path, 'KEY=changed\n')
    write('open.txt', 'KEY=shown\n')
    const unstaged = await run('git_diff', {})
    expect(unstaged).toContain('+KEY=shown')
    expect(unstaged).not.toContain('changed')
    expect(unstaged).toContain('\n[2 paths were left out by a deny rule]')
    git('add', '-A')
    expect(await run('git_diff', { staged: true })).not.toContain('changed')
    git('checkout', '-q', 'HEAD', '--', 'open.txt')
    expect(await run('git_diff', { staged: true })).toBe('[2 paths were left out by a deny rule]')
  })

  it('counts too if it is one of the session', async () => {
    const own: readonly Permission[] = [{ verdict: 'deny', tool: '*', pattern: '.env' }]
    expect(await run('grep', { pattern: 'KEY', glob: '.env' }, own)).not.toContain('KEY=')
    expect(await run('grep', { pattern: 'KEY', glob: '.env' })).toContain('KEY=env')
  })

  it('does not count for reading if it is about edits', async () => {
    await deny('edit_file', '.env')
    expect(await run('grep', { pattern: 'KEY', glob: '.env' })).toBe('.env\n1:KEY=env')
  })

  it('that cannot be read refuses the search', async () => {
    mkdirSync(join(workdir, '..', 'config'), { recursive: true })
    writeFileSync(join(workdir, '..', 'config', 'permissions.json'), '{')
    expect(await run('grep', { pattern: 'KEY' })).not.toContain('KEY=')
    expect(await run('find', { pattern: '*' })).not.toContain('open.txt')
  })
})
