import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findHiddenPaths } from './hidden-paths.ts'

it('hides where programs keep keys, wallets and browser profiles, and nothing that does not exist', async () => {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-hidden-')))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const names = [
    ...['.databrickscfg', '.kaggle/kaggle.json', '.config/hcloud/cli.toml', '.config/goose/secrets.yaml'],
    ...['.config/ngrok/ngrok.yml', '.config/Bitwarden/data.json', '.config/1Password/settings', '.bundle/config'],
    ...['.bitcoin/wallet.dat', '.openai/auth.json', '.pi/agent/auth.json', 'snap/firefox/common/cookies.sqlite'],
    ...['.var/app/org.mozilla.firefox/cookies.sqlite'],
  ]
  for (const name of names) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), 'secret')
  }
  await writeFile(join(home, 'notes.txt'), 'plain')
  const hidden = (await findHiddenPaths({ HOME: home }, [])).map(({ path }) => relative(home, path))
  const isHidden = (name: string) => hidden.some((one) => name === one || name.startsWith(`${one}/`))
  expect(names.filter((name) => !isHidden(name))).toEqual([])
  expect(isHidden('notes.txt')).toBe(false)
})
