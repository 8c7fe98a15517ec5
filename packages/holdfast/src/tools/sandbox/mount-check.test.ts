import { spawnSync } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { invariant } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openWorkdir } from '../../../../testkit/src/contracts/tool.ts'
import { checkMounts, type ExpectedMount } from './mount-check.ts'

/** A mount of every Linux machine, with its access on this one. */
const isReadOnly = async () => / \/proc ro[, ]/.test(await readFile('/proc/self/mountinfo', 'utf8'))

async function checkAndRun(mount: ExpectedMount) {
  const checked = await checkMounts([mount])
  invariant(checked.ok, 'the path exists')
  const [program = '', ...rest] = checked.value
  const { status, stdout, stderr } = spawnSync(program, [...rest, 'echo', 'ran'], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe.runIf(process.platform === 'linux')('the check of mounts', () => {
  it('refuses a path that is gone or leads through a link', async () => {
    const { workdir } = await openWorkdir()
    await mkdir(join(workdir, 'real/a'), { recursive: true })
    await symlink('real', join(workdir, 'link'))
    for (const path of ['absent', 'link', 'link/a'].map((name) => join(workdir, name)))
      expect(await checkMounts([{ path, access: 'rw', shows: 'itself' }])).toMatchObject({
        ok: false,
        fault: { code: 'sandbox_unavailable', message: expect.stringContaining(path) },
      })
  })

  it('runs the command if the mount is in place', async () => {
    const access = (await isReadOnly()) ? 'ro' : 'rw'
    const result = await checkAndRun({ path: '/proc', access, shows: 'itself' })
    expect(result).toEqual({ status: 0, stdout: 'ran\n', stderr: '' })
  })

  it('runs nothing if a path is not mounted, or with other access', async () => {
    const { workdir } = await openWorkdir()
    const access = (await isReadOnly()) ? 'rw' : 'ro'
    for (const mount of [
      { path: workdir, access: 'rw', shows: 'itself' },
      { path: '/proc', access, shows: 'cover' },
    ] as const) {
      const { status, stdout, stderr } = await checkAndRun(mount)
      expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
      expect(stderr).toContain(`sandbox_unavailable: ${mount.path} changed while the sandbox was made.`)
    }
  })
})
