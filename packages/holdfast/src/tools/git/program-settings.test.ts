import { describe, expect, it } from 'vitest'
import { formatSettings } from './pinned-config.ts'
import { needsGit, programSettings } from './program-settings.ts'

describe('needsGit', () => {
  it.each([
    ...['filter.lfs.clean', 'filter.a.b.smudge', 'filter.x y.process'],
    ...['gpg.program', 'gpg.x509.program', 'gpg.ssh.program', 'gpg.ssh.defaultkeycommand'],
  ])('finds %s, a setting that names a program, in a configuration', (name) => {
    expect(programSettings.test(name)).toBe(true)
    const config = formatSettings([{ name, value: 'evil' }])
    expect([needsGit.test(config), needsGit.test(config.toUpperCase())]).toEqual([true, true])
  })

  it('reads a usual configuration without git', () => {
    expect(needsGit.test('[core]\n\tbare = false\n[user]\n\tname = Ada\n')).toBe(false)
  })
})
