import { fault, ok, refuse } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { chooseWorkdir } from './choose-workdir.ts'

const links: Readonly<Record<string, string>> = { '/projects/link': '/etc' }

async function choose(named: string | undefined) {
  const codes: string[] = []
  const deps = {
    homes: ['/srv/people/mia'],
    resolveWorkdir: async (path: string) =>
      path === '/projects/gone' ? refuse(fault('bad_workdir', 'It does not exist.')) : ok(links[path] ?? path),
  }
  return [await chooseWorkdir(deps, named, (_, code) => codes.push(code)), ...codes]
}

describe('the folder of an imported session', () => {
  it.each(['/projects/project', '/home/mia/project', '/tmp/project', '/srv/people/mia/project', '/opt/app'])(
    'may be %s',
    async (path) => {
      expect(await choose(path)).toEqual([path])
    },
  )

  it.each([
    ...['/', '/etc', '/etc/ssh', '/usr/lib', '/proc/self', '/var', '/tmp', '/home', '/root', '/home/mia', '/Users/mia'],
    ...['/srv/people/mia', '/projects/link', '.', '..', '../..', 'project', 'C:\\project'],
  ])('is not %s', async (path) => {
    expect(await choose(path)).toEqual(['', 'workdir_dropped'])
  })

  it.each([undefined, '', '/projects/gone'])('is none for %j', async (path) => {
    expect(await choose(path)).toEqual(['', 'workdir_missing'])
  })
})
