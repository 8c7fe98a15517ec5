import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../packages/holdfast/src/cli/testing/cli-process.ts'

const name = '.holdfast/MEMORY.md'
let cli: Cli
beforeEach(() => {
  cli = createCli()
  mkdirSync(join(cli.workdir, '.holdfast'))
  remember('- planted')
})
afterEach(() => cli[Symbol.dispose]())

const remember = (text: string) => writeFileSync(join(cli.workdir, name), text)

describe('trust', () => {
  it('shows what a workspace offers, and run names it until it is trusted', async () => {
    const shown = await cli.run(['trust'])
    expect(shown.stdout).toBe(`TRUST  KIND    NAME\nnew    memory  ${name}\n\nmemory ${name}:\n| - planted\n`)
    const untrusted = `Not used before you trust it; holdfast trust shows it:\n  memory ${name}\n`
    expect((await cli.run(['run', 'count to 1'])).stderr).toContain(untrusted)
    expect(await cli.run(['trust', 'grant', name])).toMatchObject({
      code: 0,
      stderr: `memory ${name}:\n| - planted\nTrusted memory ${name} of ${cli.workdir}.\n`,
    })
    expect((await cli.run(['run', 'count to 1'])).stderr).not.toContain('trust')
    remember('- planted later')
    expect((await cli.run(['trust'])).stdout).toContain(
      `memory ${name}, changed since you trusted it:\n- - planted\n+ - planted later\n`,
    )
    expect((await cli.run(['run', 'count to 1'])).stderr).toContain(`memory ${name}, which changed\n`)
  })

  it('shows only the lines that changed, and grants with all of it shown', async () => {
    const notes = Array.from({ length: 12 }, (_, index) => `- note ${index}`)
    remember(notes.join('\n'))
    await cli.run(['trust', 'grant', '--all'])
    remember(notes.with(1, '- other').with(10, '- last').join('\n'))
    const changed = ['  - note 0', '- - note 1', '+ - other', '  - note 2', '  - note 3', '  - note 4', '…']
    const more = ['  - note 7', '  - note 8', '  - note 9', '- - note 10', '+ - last', '  - note 11', '']
    const shown = `memory ${name}, changed since you trusted it:\n${[...changed, ...more].join('\n')}`
    expect((await cli.run(['trust'])).stdout.endsWith(`\n${shown}`)).toBe(true)
    const granted = (await cli.run(['trust', 'grant', '--all'])).stderr
    expect(granted).toContain(`${shown}All of it:\n| - note 0\n| - other\n`)
  })

  it('shows all files of a skill, and the lines of any that changed', async () => {
    const folder = join(cli.workdir, '.holdfast/skills/tides')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'SKILL.md'), '---\ndescription: Tides\n---\nRun run.sh.\n')
    writeFileSync(join(folder, 'run.sh'), 'echo low\n')
    writeFileSync(join(folder, 'chart.bin'), Buffer.from([0, 1, 2]))
    const shown = (await cli.run(['trust'])).stdout
    expect(shown).toMatch(/\| chart\.bin, 3 bytes, [0-9a-f]{12}\n\| run\.sh, 9 bytes, [0-9a-f]{12}\n/)
    expect(shown).toContain('| File run.sh:\n| echo low\n')
    await cli.run(['trust', 'grant', '--all'])
    writeFileSync(join(folder, 'run.sh'), 'echo high\n')
    const changed = (await cli.run(['trust'])).stdout
    expect(changed).toContain('skill .holdfast/skills/tides, changed since you trusted it:\n')
    expect(changed).toContain('- echo low\n+ echo high\n')
    await cli.run(['trust', 'grant', '--all'])
    writeFileSync(join(folder, 'chart.bin'), Buffer.from([0, 1, 3]))
    expect((await cli.run(['trust'])).stdout).toMatch(/\n- chart\.bin, 3 bytes, \w+\n\+ chart\.bin, 3 bytes, \w+\n/)
  })

  it('says how to trust, and suggests the name that was meant', async () => {
    expect((await cli.run(['trust'])).stderr).toBe(
      `\nTo trust all of it: holdfast trust grant --all. To trust one: holdfast trust grant ${name}\n`,
    )
    expect((await cli.run(['trust', 'grant', 'MEMORY'])).stderr).toContain(`Did you mean '${name}'?`)
  })

  it('lists the trusted workspaces, and is taken back', async () => {
    await cli.run(['trust', 'grant', '--all'])
    expect((await cli.run(['trust', 'grant', '--all'])).stderr).toBe('All of it is trusted already.\n')
    expect((await cli.run(['trust', 'list'])).stdout).toContain(`${cli.workdir}  memory ${name}\n`)
    expect((await cli.run(['trust', 'revoke'])).stderr).toBe(`${cli.workdir} is not trusted any more.\n`)
    expect((await cli.run(['trust', 'revoke'])).stderr).toBe(`${cli.workdir} was not trusted.\n`)
    expect(JSON.parse((await cli.run(['trust', 'list', '--json'])).stdout)).toEqual({ workspaces: [] })
  })

  it.each([
    [['trust', 'lisst'], 2, "trust has no action 'lisst'. Did you mean 'list'?"],
    [['trust', 'grant'], 2, 'trust grant needs names, or --all.'],
    [['trust', 'grant', 'other'], 1, 'does not offer other.'],
    [['trust', 'show', '--all'], 2, '--all belongs to trust grant.'],
  ])('%j is refused with a hint, and nothing is trusted', async (args, code, hint) => {
    const { stderr, ...ran } = await cli.run(args)
    expect(ran.code).toBe(code)
    expect(stderr).toContain(hint)
    expect((await cli.run(['trust'])).stdout).toContain('new    memory')
  })
})
