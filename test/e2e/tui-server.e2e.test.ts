import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startServerProcess } from './server-process.ts'
import { openTui } from './tui-screen.ts'

it('a killed server is said to be gone; the terminal goes on at the next one, or in its own process', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hf-tui-')))
  const [home, workdir] = [join(base, 'home'), base]
  const environment = { HOLDFAST_LOCAL_MODELS: 'off' }
  const first = await startServerProcess({ home, env: environment })
  await using screen = openTui({ home, workdir })
  await screen.until(/demo\/agent/)
  screen.type('count to 3\r')
  await screen.untilWhole(/1, 2, 3/)

  // A second screen watches, and takes over with one key.
  await using second = openTui({ home, workdir }, ['-c'])
  await second.until(/another screen drives/)
  expect(second.whole()).toContain('1, 2, 3')
  second.type('\u0018')
  await second.until(/you drive, 2 screens/)
  await screen.until(/another screen drives/)
  second.type('\u0004')
  await second.ended
  // The driver has left: what this screen sends takes its place.
  await screen.until(/nobody drives: send something/)
  screen.type('count to 2\r')
  await screen.untilWhole(/❯ count to 2[\s\S]*1, 2\./)
  await screen.untilNot(/drives/)

  await first.kill()
  await screen.until(/server gone/)
  const next = await startServerProcess({ home, env: environment }) // at another port
  await screen.untilWhole(/Connected/)
  await screen.untilNot(/server gone/)
  screen.type('count to 4\r')
  await screen.untilWhole(/1, 2, 3, 4/)

  await next.kill()
  await screen.untilWhole(/goes on in this process/)
  await screen.untilNot(/server gone/)
  screen.type('count to 5\r')
  await screen.untilWhole(/1, 2, 3, 4, 5/)
  await screen.until(/❯\s*\n {2}exec · demo/) // while a turn runs here, Ctrl+D asks first
  screen.type('\u0004')
  expect(await screen.ended).toBe(0)
  rmSync(base, { recursive: true, force: true })
})

it('a server of --url that is killed while an answer streams is waited for, and the session goes on', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hf-tui-')))
  const [home, elsewhere] = [join(base, 'home'), join(base, 'elsewhere')]
  const token = 'made-for-this-test-only-0123456789'
  const options = { home, env: { HOLDFAST_LOCAL_MODELS: 'off', HOLDFAST_TOKEN: token, DEMO_PACE: '1' } }
  const first = await startServerProcess(options)
  await using screen = openTui({ home: elsewhere, workdir: base }, ['--url', first.url], {
    environment: { HOLDFAST_TOKEN: token },
  })
  await screen.until(/demo\/agent/)
  // The demo does not know this, and explains itself in several paragraphs, which are printed one by one.
  screen.type('sing a shanty\r')
  await screen.untilWhole(/I am the demo[\s\S]*list \[dir\]/)
  await first.kill()
  await screen.until(/server gone/)
  await screen.untilWhole(/The server is gone\. Trying to reach it again; nothing is lost\./)
  const { port } = new URL(first.url)
  const next = await startServerProcess({ ...options, port: Number(port), env: { ...options.env, DEMO_PACE: '0' } })
  await screen.untilWhole(/Connected again/)
  await screen.until(/interrupted/)
  expect(screen.whole()).not.toContain('goes on in this process')
  await screen.until(/\/continue takes the turn up again/)
  screen.type('/continue\r')
  await screen.untilWhole(/Connected again[\s\S]*For a real model, add a key/)
  await screen.until(/❯\s*\n {2}exec · demo/)
  screen.type('\u0004')
  expect(await screen.ended).toBe(0)
  expect(await next.stop()).toBe(0)
  rmSync(base, { recursive: true, force: true })
})
