import { fault, ok, refuse } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { chooseWorkdir } from './choose-workdir.ts'

const links: Readonly<Record<string, string>> = { '/projects/link': '/etc' }

async function choose(named: string | undefined, homes = ['/srv/people/mia', '/home/mia']) {
  const codes: string[] = []
  const deps = {
    homes,
    resolveWorkdir: async (path: string) =>
      path === '/projects/gone' ? refuse(fault('bad_workdir', 'It does not exist.')) : ok(links[path] ?? path),
  }
  return [await chooseWorkdir(deps, named, (_, code) => codes.push(code)), ...codes]
}

describe('the folder of an imported session', () => {
  it.each([
    ...['/projects/project', '/home/mia/project', '/home/mia/work/.hidden', '/srv/people/mia/project', '/opt/app'],
    ...[
      '/tmp/project',
      '/var/tmp/project',
      '/var/www/site',
      '/Users/Shared/project',
      '/private/var/folders/x/T/project',
    ],
  ])('may be %s', async (path) => {
    expect(await choose(path)).toEqual([path])
  })

  it.each([
    ...['/', '/etc', '/etc/ssh', '/usr/lib', '/usr/local', '/bin', '/proc/self', '/dev/shm', '/sys', '/run/user/1000'],
    ...[
      '/var',
      '/var/lib/postgresql',
      '/var/log',
      '/private/etc',
      '/private/var/db',
      '/tmp',
      '/var/tmp',
      '/home',
      '/opt',
    ],
    ...['/srv/people/mia', '/projects/link', '.', '..', '../..', 'project', 'C:\\project'],
  ])('is not %s', async (path) => {
    expect(await choose(path)).toEqual(['', 'workdir_dropped'])
  })

  it.each([
    ...['/home/mia', '/srv/people/mia', '/srv/people', '/srv'],
    ...[
      '.ssh',
      '.aws',
      '.config/app',
      '.holdfast',
      '.local/share/holdfast/blobs',
      '.dotfiles',
      'Library/Keychains',
    ].map((name) => `/home/mia/${name}`),
  ])('is not %s: homes and what programs keep in them', async (path) => {
    expect(await choose(path)).toEqual(['', 'workdir_dropped'])
  })

  it.each([
    ...[
      '/home/tom',
      '/home/tom/project',
      '/home/tom/.ssh',
      '/Users/tom',
      '/Users/tom/project',
      '/var/home/tom/project',
    ],
    ...['/root', '/root/project', '/root/.ssh', '/var/root', '/private/var/root/project'],
  ])('is not %s: homes of others', async (path) => {
    expect(await choose(path)).toEqual(['', 'workdir_dropped'])
  })

  it('may be in a home that lies in a folder of the system', async () => {
    expect(await choose('/var/lib/holdfast/project', ['/var/lib/holdfast'])).toEqual(['/var/lib/holdfast/project'])
    expect(await choose('/root/project', ['/root'])).toEqual(['/root/project'])
  })

  it('is not a folder of the system for a user whose home is the root of all files', async () => {
    expect(await choose('/projects/project', ['/'])).toEqual(['/projects/project'])
    for (const path of ['/', '/etc', '/.ssh', '/root/project'])
      expect(await choose(path, ['/'])).toEqual(['', 'workdir_dropped'])
  })

  it.each([undefined, '', '/projects/gone'])('is none for %j', async (path) => {
    expect(await choose(path)).toEqual(['', 'workdir_missing'])
  })
})
