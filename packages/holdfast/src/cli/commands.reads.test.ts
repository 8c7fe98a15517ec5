import { describe, expect, it } from 'vitest'
import type { CommandSpec } from './args/command-spec.ts'
import { commandSpecs } from './commands.ts'
import { createCli } from './testing/cli-process.ts'

const specs: readonly (readonly [string, CommandSpec])[] = Object.entries(commandSpecs)

describe('commands', () => {
  it('that read work against a server', () => {
    const reading = specs.filter(([, { reads }]) => reads)
    expect(reading.filter(([, { flags }]) => !('url' in flags && 'token-file' in flags)).map(([name]) => name)).toEqual(
      [],
    )
    expect(reading.length).toBeGreaterThan(14)
  })

  it('take --url, or say why not', async () => {
    const lacking = specs.filter(([, { flags }]) => !('url' in flags))
    expect(lacking.filter(([, { whyNoUrl }]) => whyNoUrl === undefined).map(([name]) => name)).toEqual([])
    expect(specs.filter(([, { flags, whyNoUrl }]) => 'url' in flags && whyNoUrl !== undefined)).toEqual([])
    using cli = createCli()
    const refused = await cli.run(['doctor', '--url', 'http://127.0.0.1:1'])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('doctor does not work with --url. It works on the files of a store.')
  })
})

describe('a wrong --url', () => {
  it('is refused before anything is read', async () => {
    using cli = createCli()
    expect(await cli.run(['ls', '--url', 'nowhere'])).toMatchObject({ code: 2, stdout: '' })
    expect(await cli.run(['ls', '--url', 'http://127.0.0.1:1', '--store', 'memory:'])).toMatchObject({ code: 2 })
    expect(await cli.run(['ls', '--token-file', 'x'])).toMatchObject({ code: 2 })
    const unreachable = await cli.run(['ls', '--all', '--url', 'http://127.0.0.1:1', '--json'])
    expect(unreachable).toMatchObject({ code: 1 })
    expect(JSON.parse(unreachable.stdout)).toMatchObject({ error: { code: 'unreachable' } })
    const unread = await cli.run(['ls', '--url', 'http://127.0.0.1:1', '--token-file', '/nowhere/token'])
    expect(unread.stderr).toContain('Cannot read the token')
  })
})
