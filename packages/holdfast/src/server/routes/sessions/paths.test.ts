import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { openPermissionRules } from '../../../open/permission-rules.ts'
import { open } from '../../../open.ts'
import { findHome } from '../../../system/home.ts'
import { codeOf, openTestServer } from '../../testing/test-server.ts'

it('paths are completed for drivers: in the workdir of a session under its rules, and folders anywhere', async () => {
  await using opened = new AsyncDisposableStack()
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-paths-')))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const workdir = join(folder, 'work')
  await mkdir(join(workdir, 'private'), { recursive: true })
  for (const name of ['notes.md', 'private/notes.md']) await writeFile(join(workdir, name), '')
  const holdfast = orThrow(await open({ environment: { HOLDFAST_HOME: join(folder, 'home') } }))
  opened.defer(() => holdfast.close())
  const test = opened.use(await openTestServer({ sessions: holdfast.handles, ...holdfast.serverParts }))
  const permissions = [{ tool: 'find', pattern: 'private/**', verdict: 'deny' as const }]
  const { id } = await holdfast.startSession({ workdir, model: 'demo/agent', permissions })

  const found = await test.call(`/v1/sessions/${id}/complete?text=not`)
  expect([found.status, await found.json()]).toEqual([
    200,
    { paths: [{ path: 'notes.md', type: 'file' }], isCut: false },
  ])
  const folders = await test.call(`/v1/folders?text=${encodeURIComponent(join(folder, 'wo'))}`)
  expect(await folders.json()).toEqual({ paths: [{ path: `${workdir}/`, type: 'folder' }], isCut: false })

  const inFolder = (folder: string, text: string) =>
    `/v1/folders/complete?workdir=${encodeURIComponent(folder)}&text=${encodeURIComponent(text)}`
  const ofFolder = await test.call(inFolder(workdir, 'not'))
  expect(await ofFolder.json()).toEqual({
    paths: [
      { path: 'notes.md', type: 'file' },
      { path: 'private/notes.md', type: 'file' }, // the rule is one of the session
    ],
    isCut: false,
  })
  const outside = await test.call(inFolder(workdir, '../'))
  expect(await outside.json()).toEqual({ paths: [], isCut: false })
  for (const bad of [
    inFolder('work', ''),
    inFolder(join(workdir, 'gone'), ''),
    inFolder(join(workdir, 'notes.md'), ''),
  ])
    expect(await codeOf(await test.call(bad))).toBe('bad_workdir')
  orThrow(
    await openPermissionRules(findHome({ HOLDFAST_HOME: join(folder, 'home') })).add({
      tool: '*',
      pattern: 'notes.md',
      verdict: 'deny',
    }),
  )
  const ruled = await test.call(inFolder(workdir, 'not'))
  expect(await ruled.json()).toEqual({ paths: [{ path: 'private/notes.md', type: 'file' }], isCut: false })
  const commands = await test.call(`/v1/commands?workdir=${encodeURIComponent(workdir)}`)
  expect(await commands.json()).toMatchObject({
    commands: expect.arrayContaining([expect.objectContaining({ name: 'plan', source: 'built-in' })]),
  })

  const own = await test.call('/v1/folders')
  expect(await own.json()).toEqual({ paths: [{ path: join(process.cwd(), '/'), type: 'folder' }], isCut: false })

  expect(await codeOf(await test.call('/v1/folders?text=work'))).toBe('bad_workdir')
  expect(await codeOf(await test.call('/v1/folders?text=/nowhere/at/all/'))).toBe('bad_workdir')
  expect((await test.call(`/v1/sessions/${id}/complete?text=${'x'.repeat(1001)}`)).status).toBe(400)
  expect((await test.call(`/v1/sessions/${id}/complete?limit=201`)).status).toBe(400)
  const headers = { authorization: `Bearer ${test.tokens.viewer}` }
  for (const path of [`/v1/sessions/${id}/complete`, '/v1/folders?text=/', inFolder(workdir, '')])
    expect(await codeOf(await test.call(path, { headers }))).toBe('not_driver')
})

it('a file that a rule keeps from read_file is shown to an admin only, by any name', async () => {
  await using opened = new AsyncDisposableStack()
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-denied-')))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const workdir = join(folder, 'work')
  await mkdir(workdir)
  for (const name of ['.env', 'notes.md', 'key.pem', 'draft']) await writeFile(join(workdir, name), 'a line\n')
  await symlink('.env', join(workdir, 'link'))
  const holdfast = orThrow(await open({ environment: { HOLDFAST_HOME: join(folder, 'home') } }))
  opened.defer(() => holdfast.close())
  const { handles: sessions, serverParts } = holdfast
  const test = opened.use(await openTestServer({ sessions, ...serverParts }))
  orThrow(
    await openPermissionRules(findHome({ HOLDFAST_HOME: join(folder, 'home') })).add({
      tool: '*',
      pattern: '.env',
      verdict: 'deny',
    }),
  )
  const own = [
    { tool: 'read_file', pattern: '*.pem', verdict: 'deny' as const },
    { tool: 'write_file', pattern: 'draft', verdict: 'deny' as const },
  ]
  const { id } = await holdfast.startSession({ workdir, model: 'demo/agent', permissions: own })
  const statusOf = async (path: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await test.call(`/v1/sessions/${id}/file?path=${encodeURIComponent(path)}`, { headers })).status
  }
  const { driver, admin } = test.tokens
  for (const path of ['.env', './.env', 'link', join(workdir, '.env'), 'key.pem'])
    expect([path, await statusOf(path, driver), await statusOf(path, admin)]).toEqual([path, 403, 200])
  for (const path of ['notes.md', 'draft']) expect([path, await statusOf(path, driver)]).toEqual([path, 200])

  const without = opened.use(await openTestServer({ sessions }))
  const asked = (token: string) =>
    without.call(`/v1/sessions/${id}/file?path=notes.md`, { headers: { authorization: `Bearer ${token}` } })
  expect((await asked(without.tokens.admin)).status).toBe(200)
  expect(await codeOf(await asked(without.tokens.driver))).toBe('not_found') // it cannot know what rules deny
})
