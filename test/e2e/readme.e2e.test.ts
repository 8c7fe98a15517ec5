import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const exampleOf = async (path: string) => /```ts\n(.*?)```/s.exec(await readFile(join(root, path), 'utf8'))?.[1] ?? ''

it('the example of the README prints the two answers and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-readme-'))
  const example = await exampleOf('README.md')
  expect(await exampleOf('packages/holdfast/README.md')).toBe(example)
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'try.ts'), example)
  const env = { ...process.env, HOLDFAST_HOME: join(folder, 'home'), DEMO_PACE: '0' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['try.ts'], { cwd: folder, env })
  expect(stdout).toBe('list_directory (.) returned:\n\n```\nhome/\nnode_modules@\ntry.ts\n```\n1, 2, 3.')
  expect(stderr).toBe('')
  await rm(folder, { recursive: true, force: true })
})
