import { describe, expect, it } from 'vitest'
import type { CommandSpec } from './args/command-spec.ts'
import { commandSpecs } from './commands.ts'
import { createCli } from './testing/cli-process.ts'

const specs: readonly (readonly [string, CommandSpec])[] = Object.entries(commandSpecs)

/** The commands that read no sessions and nothing a server has, and why. A new command is listed here or takes `--url`. */
const withoutUrl: Readonly<Record<string, string>> = {
  import: 'reads files of this machine into a store of this machine',
  'mv-workspace': 'changes many sessions of a store',
  doctor: 'needs the files of the store',
  backup: 'needs the files of the store',
  migrate: 'needs the files of the store',
  auth: 'keys of this machine',
  config: 'the file of this user',
  completion: 'a script for the shell of this user',
  mcp: 'servers of this machine',
  share: 'a link of the server of this home',
  login: 'a link of the server of this home',
  open: 'the page of the server of this home',
  serve: 'is a server',
}

describe('commands', () => {
  it('that read work against a server', () => {
    const reading = specs.filter(([, { reads }]) => reads)
    expect(reading.filter(([, { flags }]) => !('url' in flags && 'token-file' in flags)).map(([name]) => name)).toEqual(
      [],
    )
    expect(reading.length).toBeGreaterThan(14)
  })

  it('take --url, or are listed with the reason why not', () => {
    const lacking = specs.filter(([, { flags }]) => !('url' in flags)).map(([name]) => name)
    expect(lacking.toSorted()).toEqual(Object.keys(withoutUrl).toSorted())
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
