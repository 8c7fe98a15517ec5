import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { invariant, type SessionHandle } from '@holdfast/protocol'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../test/e2e/browser.ts'
import { type ServerProcess, startServerProcess } from '../test/e2e/server-process.ts'

/**
 * Makes the pictures of README.md and docs/page.md from the real page: a server with the demo model, real sessions, and a
 * real browser. Build the page first: `npm run build --workspace @holdfast/web`.
 */
const pictures = resolve(import.meta.dirname, '../docs/pictures')
/** Larger pictures make a clone slow. */
const bytesMax = 150_000
const desk = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }

const lamp = [
  'export type Lamp = { readonly on: boolean; readonly turnsPerMinute: number }',
  '',
  'export const start = (lamp: Lamp): Lamp => ({ ...lamp, on: true })',
  'export const speed = "slow"',
  'export const colour = "amber"',
  '',
].join('\n')

type Stage = {
  readonly browser: Browser
  readonly server: ServerProcess
  readonly page: Page
  readonly session: SessionHandle
  readonly show: (hash: string) => Promise<void>
}

const home = await mkdtemp(join(tmpdir(), 'holdfast-pictures-'))
/** It is on the pictures, so its name says nothing about a machine. */
const workdir = '/tmp/lighthouse'
await mkdir(pictures, { recursive: true })
await mkdir(workdir, { recursive: true })
process.chdir(workdir) // the page shows where the server was started
const [browser, server] = await Promise.all([openBrowser(), startServerProcess({ home })])
try {
  const context = await browser.newContext({ viewport: desk, colorScheme: 'light', reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(server.loginLink)
  const show = async (hash: string) => {
    await page.goto(`${server.url}/${hash}`)
    await page.locator('main:not([aria-busy])').waitFor()
  }
  await show('#/')
  await page.getByRole('list', { name: 'First steps' }).waitFor()
  await page
    .getByRole('combobox', { name: 'Folder' })
    .and(page.locator(`[value="${workdir}"]`))
    .waitFor()
  await take(page, 'start')
  const session = await startLighthouse()
  await takeAll({ browser, server, page, session, show })
} finally {
  await browser.close()
  await server.stop()
  await rm(home, { recursive: true, force: true })
  await rm(workdir, { recursive: true, force: true })
}

/** Starts a session with a history: tasks, a change, a subagent and a branch. */
async function startLighthouse(): Promise<SessionHandle> {
  await mkdir(join(workdir, 'src'), { recursive: true })
  await writeFile(join(workdir, 'src/lamp.ts'), lamp)
  const started = await server.sessions.start({ workdir, model: 'demo/agent', title: 'Make the lamp faster' })
  invariant(started.ok, 'the session starts')
  const session = started.value
  await say(session, 'todo done read the code; doing make the lamp fast; write a test')
  await say(session, 'read src/lamp.ts')
  await say(session, 'write NOTES.md: The lamp turns slowly.')
  await say(session, 'delegate search amber')
  return session
}

/** Sends a prompt, approves what it asks, and waits until it rests. */
async function say(session: SessionHandle, content: string, isAnswered = true): Promise<void> {
  const sent = await session.submit({ type: 'sendPrompt', content })
  invariant(sent.ok, 'the prompt is taken')
  for await (const frame of session.subscribe({ after: sent.value.seq })) {
    if (frame.type !== 'record') continue
    if (frame.record.event.type === 'turn.ended') return
    if (frame.record.event.type !== 'approval.asked') continue
    if (!isAnswered) return
    await session.submit({ type: 'respondToApproval', decision: 'approve' })
  }
}

async function takeAll({ page, session, show }: Stage): Promise<void> {
  await show(`#/s/${session.id}`)
  await page.locator('.approval, .transcript').first().waitFor()
  await page.locator('.transcript').hover()
  await page.mouse.wheel(0, -400)
  await page.getByRole('button', { name: 'Branch, fork or rewind' }).last().click()
  await page.getByRole('menuitem', { name: 'Rewind to here' }).waitFor()
  await take(page, 'turn-menu')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Branch, fork or rewind' }).nth(-2).click()
  await page.getByRole('menuitem', { name: 'Rewind to here' }).click()
  await page.getByRole('dialog').getByText('back too').waitFor()
  await take(page, 'rewind')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Plan', exact: true }).click()
  await page.getByRole('button', { name: 'Plan', exact: true, pressed: true }).waitFor()
  await take(page, 'plan')
  await page.getByRole('button', { name: 'Exec', exact: true }).click()
  await page.getByRole('button', { name: 'Exec', exact: true, pressed: true }).waitFor()

  await page.getByRole('textbox', { name: 'Message' }).fill('edit src/lamp.ts: slow => fast\nrun npm test')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).waitFor()
  await page.locator('.approval').focus()
  await take(page, 'approval')
  await page.emulateMedia({ colorScheme: 'dark' })
  await take(page, 'approval-dark')
  await page.setViewportSize(phone)
  await take(page, 'phone')
  await page.setViewportSize(desk)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.getByRole('textbox', { name: 'Message' }).fill('Use a constant for the speed.')
  await page.getByRole('button', { name: 'Follow up' }).click()
  await page.getByText('Use a constant for the speed.').waitFor()
  await take(page, 'queue')

  const other = await server.sessions.start({
    workdir,
    model: 'demo/agent',
    title: 'Release',
  })
  invariant(other.ok, 'the session starts')
  await say(other.value, 'run npm publish', false)
  await show('#/waiting')
  await page.locator('.approval').nth(1).waitFor()
  await page.getByRole('button', { name: 'Approve' }).and(page.locator(':enabled')).first().waitFor()
  await take(page, 'waiting')

  const second = await page.context().newPage()
  await second.setViewportSize(desk)
  await second.goto(`${server.url}/#/s/${session.id}`)
  await second.locator('.approval').first().waitFor()
  await page.goto(`${server.url}/#/s/${session.id}`)
  await page.getByText('You are watching').waitFor()
  await take(page, 'watching')
}

/** Takes a picture and stores it as WebP, which the browser makes. */
async function take(page: Page, name: string): Promise<void> {
  await page.evaluate('document.fonts.ready')
  const png = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64')
  const maker = await browser.newPage()
  const webp: string = await maker.evaluate(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png}'
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.86).split(',')[1]
  })()`)
  await maker.close()
  const path = join(pictures, `${name}.webp`)
  await writeFile(path, Buffer.from(webp, 'base64'))
  const { size } = await stat(path)
  invariant(size < bytesMax, `${name} has ${size} bytes`)
  process.stdout.write(`docs/pictures/${name}.webp ${size}\n`)
}
