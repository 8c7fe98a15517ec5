import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

let cli: Cli
beforeEach(() => {
  cli = createCli()
  for (const name of ['tides', 'knots']) {
    const folder = join(cli.workdir, '.claude/skills', name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'SKILL.md'), `---\ndescription: About: ${name}.\n---\nLook at the ${name}.\n`)
  }
})
afterEach(() => cli[Symbol.dispose]())

describe('skills', () => {
  it('are listed with what is wrong, shown, and switched on and off in a session', async () => {
    const before = await cli.run(['skills'])
    expect(before.stdout).toContain('knots  untrusted  workspace  About: knots.\n')
    expect(before.stderr).toMatch(/tides\/SKILL\.md:2: Its value needs quotes in YAML; it was read as text\.\n/)
    expect((await cli.run(['skills', 'show', 'tides'])).stderr).toContain('is not trusted in its current form')
    await cli.run(['trust', 'grant', '--all'])
    expect((await cli.run(['skills', 'show', 'tides'])).stdout).toMatch(
      /^<skill_content name="tides".*\nLook at the tides\./,
    )
    await cli.run(['run', 'count to 1'])
    expect(await cli.run(['skills', 'on', 'tides'])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^\S+-\d+ follows tides\.\n$/),
    })
    expect((await cli.run(['skills', '-s', '@latest'])).stdout).toMatch(/tides +listed, active +workspace/)
    expect((await cli.run(['skills', 'off', 'tides'])).stderr).toMatch(/^\S+-\d+ no longer follows tides\.\n$/)
    expect(await cli.run(['skills', 'off', 'tides'])).toMatchObject({ code: 1 })
  })

  it('can be called by a slash in run, like files and built-in commands', async () => {
    mkdirSync(join(cli.workdir, '.holdfast/commands'), { recursive: true })
    writeFileSync(join(cli.workdir, '.holdfast/commands/count.md'), 'count to $1')
    mkdirSync(join(cli.workdir, '.holdfast/skills/theirs'), { recursive: true })
    writeFileSync(join(cli.workdir, '.holdfast/skills/theirs/SKILL.md'), '---\ndescription: Theirs\n---\nx')
    mkdirSync(join(cli.workdir, '.holdfast/agents'))
    writeFileSync(join(cli.workdir, '.holdfast/agents/one.md'), '---\nname: one\ndescription: One\n---\nx')
    const hint = 'is not used before you trust it. holdfast trust shows it.\n'
    expect((await cli.run(['skills'])).stderr).toContain(`An untrusted skill ${hint}`)
    expect((await cli.run(['agents'])).stderr).toContain(`An untrusted agent ${hint}`)
    expect((await cli.run(['run', '/count 3'])).stderr).toContain('is not trusted in its current form')
    await cli.run(['trust', 'grant', '--all'])
    expect((await cli.run(['run', '/count 3'])).stdout).toBe('1, 2, 3.\n')
    expect((await cli.run(['show', '@latest'])).stdout).toContain('/count 3')
    const before = (await cli.run(['ls'])).stdout
    const help = await cli.run(['run', '/help'])
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('/tides: About: tides.\n'), stderr: '' })
    expect((await cli.run(['ls'])).stdout).toBe(before) // no empty session is left behind
    expect(await cli.run(['run', '/nothing'])).toMatchObject({ code: 1 })
  })

  it.each([
    [['skills', 'lst'], 2, "skills has no action 'lst'. Did you mean 'list'?"],
    [['skills', 'show'], 2, 'skills show needs the name of a skill.'],
    [['skills', 'show', 'none'], 1, 'There is no skill none.'],
  ])('%j is refused with a hint', async (args, code, hint) => {
    const { stderr, ...ran } = await cli.run(args)
    expect(ran.code).toBe(code)
    expect(stderr).toContain(hint)
  })
})
