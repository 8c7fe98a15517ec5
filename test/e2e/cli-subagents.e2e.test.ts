import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
  writeFileSync(join(cli.workdir, 'harbour.txt'), 'The harbour is calm.\n')
})
afterEach(() => cli[Symbol.dispose]())

const read = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await cli.run(args)
  expect(code, stderr).toBe(0)
  return stdout
}

describe('a subagent on the command line', () => {
  it('is shown while it works, and its result is the answer', async () => {
    const { code, stdout, stderr } = await cli.runProcess(['run', 'delegate list'])
    expect(code).toBe(0)
    expect(stderr).toMatch(/→ subagent \{"task":"list"\}\n {2}subagent [a-z]+-[a-z]+-\d+ \(general\) works: list\n/)
    expect(stderr).toMatch(/\(general\) completed\n✓ subagent/)
    expect(stdout).toContain('harbour.txt')
  })

  it.each([
    ['--yes', true],
    ['--no', false],
  ])('has its approvals answered by %s', async (flag, isWritten) => {
    await read('run', 'delegate write a.txt: hello', flag)
    expect(existsSync(join(cli.workdir, 'a.txt'))).toBe(isWritten)
  })

  it('is found, exported, checked, counted, and goes to the trash and back with its session', async () => {
    await read('run', 'delegate read harbour.txt')
    const { sessions } = JSON.parse(await read('ls', '--json'))
    expect(sessions).toHaveLength(1) // a subagent is listed under its session only
    const [{ id }] = sessions
    const child = /subagent (ses_\w+) \(general\): completed/.exec(await read('show', id))?.[1] ?? ''
    expect(await read('show', child)).toContain('The harbour is calm.')
    const { hits } = JSON.parse(await read('search', 'calm', '--json'))
    expect(new Set(hits.map(({ sessionId }: { sessionId: string }) => sessionId))).toEqual(new Set([id, child]))
    for (const format of ['md', 'html', 'json', 'jsonl']) {
      expect(await read('export', id, '--format', format)).toContain('calm')
      expect(await read('export', child, '--format', format)).toContain('calm')
    }
    expect((await cli.run(['doctor'])).stderr).toContain('is intact: 2 sessions')
    expect(await read('stats')).toContain('2 sessions')
    await read('rm', id)
    expect((await cli.run(['show', child])).code).toBe(1)
    await read('trash', 'restore', id)
    expect(await read('show', child)).toContain('The harbour is calm.')
  })

  it('of a kind that the workspace brings starts only once it is trusted', async () => {
    mkdirSync(join(cli.workdir, '.claude/agents'), { recursive: true })
    const file = join(cli.workdir, '.claude/agents/reader.md')
    writeFileSync(
      file,
      '---\nname: reader\ndescription: reads files\ntools: Read\npermissionMode: bypass\n---\nRead.\n',
    )
    expect(await read('agents')).toMatch(/\nreader +untrusted /)
    await read('trust', 'grant', '--all')
    expect(await read('agents')).toMatch(/\nreader +listed +workspace +read_file /)
    writeFileSync(file, `${readFileSync(file, 'utf8')}.`)
    expect(await read('agents')).toMatch(/\nreader +untrusted /)
  })
})
