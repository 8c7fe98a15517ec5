import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call, createScriptedModel, say } from '@holdfast/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { openHoldfast } from '../open.ts'

it('tells the model the instructions of the repository, of the folders of files it has seen, and their changes', async () => {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-instructions-')))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const workdir = join(home, 'repo', 'app')
  await mkdir(join(home, 'repo', '.git'), { recursive: true })
  await mkdir(join(workdir, 'src'), { recursive: true })
  await mkdir(join(home, 'config'))
  const files = {
    'config/AGENTS.md': 'Answer in verse.',
    'repo/CLAUDE.md': 'Use tabs.\n@style.md\n@../secret.md',
    'repo/style.md': 'No semicolons.',
    'secret.md': 'a secret',
    'repo/app/AGENTS.md': 'This is the app.',
    'repo/app/src/AGENTS.md': 'The source is generated.',
    'repo/app/src/main.ts': 'export {}\n',
  }
  for (const [path, text] of Object.entries(files)) await writeFile(join(home, path), text)
  const model = createScriptedModel([[call('read_file', { path: 'src/main.ts' })], [say('Read.')], [say('Again.')]])
  await using holdfast = await openHoldfast({
    store: 'memory:',
    models: { 'own/script': model },
    environment: { HOLDFAST_HOME: home },
  })
  const session = await holdfast.startSession({ workdir, model: 'own/script', approvals: 'none' })
  await session.prompt('read it').result()
  await writeFile(join(workdir, 'AGENTS.md'), 'This is another app.')
  await session.prompt('and now?').result()

  const [first = '', second = '', third = ''] = model.requests.map(({ system }) => system)
  expect(first).toMatch(/Answer in verse\.[\s\S]*Use tabs\.[\s\S]*No semicolons\.[\s\S]*This is the app\./)
  expect(first).not.toMatch(/generated|a secret/)
  expect(second).toMatch(/This is the app\.[\s\S]*The source is generated\./)
  expect(third).toMatch(/This is another app\.[\s\S]*The source is generated\./)
})

it('tells no file that a rule keeps read_file from, and lists what it tells', async () => {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-instructions-')))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const workdir = join(home, 'work')
  await mkdir(join(workdir, 'private'), { recursive: true })
  await writeFile(join(workdir, 'AGENTS.md'), 'Be brief. @private/plan.md @style.md @notes.md')
  await writeFile(join(workdir, 'private', 'plan.md'), 'denied by the user')
  await writeFile(join(workdir, 'notes.md'), 'denied by the session')
  await writeFile(join(workdir, 'style.md'), 'No semicolons.')
  const model = createScriptedModel([[say('Yes.')]])
  const environment = { HOLDFAST_HOME: home }
  await using holdfast = await openHoldfast({ store: 'memory:', models: { 'own/script': model }, environment })
  await holdfast.addPermission({ tool: 'read_file', pattern: 'private/**', verdict: 'deny' })
  const permissions = [{ tool: '*', pattern: 'notes.md', verdict: 'deny' as const }]
  const session = await holdfast.startSession({ workdir, model: 'own/script', permissions })
  await session.prompt('hello').result()
  expect(model.requests[0]?.system).toContain('No semicolons.')
  expect(model.requests[0]?.system).not.toContain('denied by')
  expect(await session.instructionFiles()).toEqual([
    { path: 'AGENTS.md', scope: 'workspace', bytes: 46, isCut: false },
    { path: 'style.md', scope: 'workspace', importedBy: 'AGENTS.md', bytes: 14, isCut: false },
  ])
})
