import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectHoldfast } from '@holdfast/client'
import { invariant, orThrow, type SessionHandle, TurnNumber } from '@holdfast/protocol'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findAxeProblems } from './axe.ts'
import { openTab, usePage } from './page-fixture.ts'

type Screen = readonly [name: string, show: (page: Page) => Promise<void>, leave?: (page: Page) => Promise<void>]

/** Takes a picture if `PAGE_SHOTS` names a folder. */
const picture = async (page: Page, name: string) => {
  const shots = process.env['PAGE_SHOTS']
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) })
}

/** The sessions that the screens show. */
type Shown = {
  readonly session: string
  readonly child: string
  readonly asked: string
  readonly failed: string
  readonly watched: string
}

const desk = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }
const close = (page: Page) => page.keyboard.press('Escape')

/** What a finger can press that is smaller than 44 px. Links in a sentence may be as high as it is. */
const smallTargets = `
  [...document.querySelectorAll('button, select, textarea, summary, input, a.button, .sidebar a, label:has(input)')]
    .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((one) => !one.matches(':is([type=checkbox], [type=radio])') && !one.closest('p, li p, .prose')?.innerText.replace(one.innerText, '').trim())
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([, { width, height, right }]) => width > 1 && right > 0 && (height < 43.5 || width < 43.5))
    .map(([one, { width, height }]) => (one.ariaLabel || one.innerText || one.className) + ' ' + Math.round(width) + 'x' + Math.round(height))
`

/** Every screen of the page in a real browser: for axe in light and dark, and for fingers. */
describe('every screen', () => {
  const { now, startSession, transcript, atRest, say } = usePage({ profile: { viewport: desk } })

  /** Starts a session that has some of everything, and waits for a person in the end. */
  async function startRich(): Promise<SessionHandle> {
    const { workdir, server } = now()
    await mkdir(join(workdir, '.claude/skills/release'), { recursive: true })
    const skill = '---\nname: release\ndescription: Writes release notes.\n---\ncount to 2'
    await writeFile(join(workdir, '.claude/skills/release/SKILL.md'), skill)
    await writeFile(join(workdir, 'AGENTS.md'), 'Use tabs.')
    const started = await server.sessions.start({ workdir, model: 'demo/agent', approvals: 'none' })
    invariant(started.ok, 'the session starts')
    const handle = started.value
    const turns = [
      'todo done read it; doing change it; test it\nread hello.txt\nsearch hello',
      'edit hello.txt: hello => goodbye\nrun echo done',
      'delegate write by-child.txt: hello',
      'count to 2',
    ]
    for (const content of turns) {
      await handle.submit({ type: 'sendPrompt', content })
      await idle(handle)
    }
    await handle.submit({ type: 'branchAt', turn: TurnNumber.parse(turns.length - 2) })
    await handle.submit({ type: 'setBoundary', path: 'hello.txt', start: 0, end: 0 })
    return handle
  }
  async function idle(handle: SessionHandle): Promise<void> {
    for await (const frame of handle.subscribe({ after: 0 }))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') {
        const state = await handle.state(['status'])
        if (state.ok && state.value.status === 'idle') return
      }
  }

  const click = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click()
  /** Presses a button that may be behind the one button of the header of a phone. */
  const inHeader = (name: string | RegExp) => async (page: Page) => {
    const actions = page.getByRole('button', { name: 'Session actions' })
    if ((await actions.isVisible()) && (await actions.getAttribute('aria-expanded')) !== 'true') await actions.click()
    await click(name)(page)
  }
  const fromMenu = (item: string | RegExp, title: string) => async (page: Page) => {
    await inHeader('More')(page)
    await page.getByRole('menuitem', { name: item }).click()
    await page.getByRole('dialog', { name: title }).waitFor()
  }
  /** Presses a button that only a phone has. */
  const onPhone = (name: string) => async (page: Page) => {
    if (page.viewportSize()?.width === phone.width) await page.getByRole('button', { name, exact: true }).click()
  }
  const screensOf = ({ session, child, asked, failed, watched }: Shown): readonly Screen[] => [
    ['new session', (page) => goTo(page, '#/')],
    ['list', onPhone('Show sessions')],
    [
      'filter',
      (page) => click('Filter')(page).then(() => popup(page)),
      (page) => close(page).then(() => goTo(page, '#/')),
    ],
    ['trash', (page) => goTo(page, '#/trash')],
    [
      'settings',
      (page) => goTo(page, '#/settings').then(() => page.getByRole('list', { name: 'Providers' }).waitFor()),
    ],
    ['key', (page) => click(/^Add a key for /)(page).then(() => popup(page)), close],
    [
      'keys',
      (page) =>
        goTo(page, '#/trash')
          .then(() => page.keyboard.press('?'))
          .then(() => popup(page)),
      close,
    ],
    ['palette', (page) => page.keyboard.press('Control+K').then(() => popup(page)), close],
    ['waiting', (page) => goTo(page, '#/waiting').then(() => page.locator('.approval').first().waitFor())],
    [
      'approval and queue',
      (page) => goTo(page, `#/s/${asked}`).then(() => page.locator('.approval').first().waitFor()),
    ],
    ['failed turn', (page) => goTo(page, `#/s/${failed}`).then(() => page.getByText('Continue').first().waitFor())],
    ['watching', (page) => goTo(page, `#/s/${watched}`).then(() => page.getByText('Take control').waitFor())],
    ['session', (page) => goTo(page, `#/s/${session}`).then(() => page.getByText('goodbye').first().waitFor())],
    ['review', (page) => click('Review…')(page).then(() => popup(page)), close],
    ['next answer', onPhone('Model, mode and context'), close],
    ['branches', (page) => inHeader('1 branch')(page).then(() => popup(page)), close],
    ['rename', fromMenu('Rename…', 'Rename the session'), close],
    ['share', fromMenu('Share…', 'Share this session'), close],
    ['session menu', inHeader('More'), close],
    [
      'edit form',
      async (page) => {
        await page.getByRole('article', { name: 'You' }).last().hover()
        await page.getByRole('button', { name: 'Edit prompt' }).last().click()
      },
      close,
    ],
    ['subagent', (page) => goTo(page, `#/s/${session}/${child}`).then(() => page.locator('.child-head').waitFor())],
    ['session again', (page) => goTo(page, `#/s/${session}`).then(() => page.getByText('goodbye').first().waitFor())],
    ['turn menu', click('Branch, fork or rewind'), close],
    [
      'rewind',
      async (page) => {
        await click('Branch, fork or rewind')(page)
        await page.getByRole('menuitem', { name: 'Rewind to here' }).click()
        await page.getByRole('dialog').getByText('back too').waitFor()
      },
      close,
    ],
    ['all changes', (page) => openPanel(page).then(() => click('All changes')(page)), close],
    ['file', (page) => openPanel(page).then(() => click(/^hello\.txt$/)(page)), close],
    ['panel', openPanel],
  ]
  const popup = (page: Page) => page.getByRole('dialog').first().waitFor()
  async function goTo(page: Page, hash: string): Promise<void> {
    await page.goto(`${now().server.url}/${hash}`)
    await page.locator('main:not([aria-busy])').waitFor()
  }
  async function openPanel(page: Page): Promise<void> {
    const button = page.getByRole('button', { name: /^Files and tasks/ })
    if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click()
    await page.getByRole('button', { name: 'All changes' }).waitFor()
  }

  it('has nothing that axe finds, in light and dark, on a desk and on a phone, and room for fingers', async () => {
    const { page, complaints, browser, server } = now()
    const rich = await startRich()
    const asked = await server.sessions.start({ workdir: now().workdir, model: 'demo/agent' })
    invariant(asked.ok, 'the session starts')
    await asked.value.submit({ type: 'sendPrompt', content: 'write a.txt: hello\nrun echo hi' })
    await asked.value.submit({ type: 'queueFollowUp', content: 'count to 3' })
    const failed = orThrow(await server.sessions.start({ workdir: now().workdir, model: 'demo/agent' }))
    await failed.submit({ type: 'sendPrompt', content: 'fail rejected_key' })
    const watched = orThrow(await server.sessions.start({ workdir: now().workdir, model: 'demo/agent' }))
    await watched.submit({ type: 'sendPrompt', content: 'count to 2' })
    const driver = watched.subscribe({ client: 'laptop' })[Symbol.asyncIterator]()
    await driver.next() // it has control from now on
    const child = orThrow(await rich.subagents()).at(0)?.id ?? ''
    const ids = { session: rich.id, child, asked: asked.value.id, failed: failed.id, watched: watched.id }
    const screens = screensOf(ids)
    const found: string[] = []
    const look = async (tab: Page, name: string, scheme: 'light' | 'dark', rules?: readonly string[]) => {
      await tab.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      found.push(...(await findAxeProblems(tab, 'html', rules)).map((problem) => `${name}, ${scheme}: ${problem}`))
    }
    const walk = async (tab: Page, size: typeof desk, first: 'light' | 'dark') => {
      await tab.setViewportSize(size)
      for (const [name, show, leave] of screens) {
        await show(tab)
        const where = `${name}, ${size.width}`
        await picture(tab, where)
        await look(tab, where, first)
        await look(tab, where, first === 'light' ? 'dark' : 'light', ['color-contrast'])
        if (size === phone) {
          const small = (await tab.evaluate(smallTargets)) as readonly string[]
          found.push(...small.map((target) => `${where}: small: ${target}`))
          const wide = await tab.evaluate('document.documentElement.scrollWidth')
          if (wide !== size.width) found.push(`${where}: ${wide} px wide`)
        }
        await leave?.(tab)
      }
    }
    await walk(page, desk, 'light')
    await page.getByRole('button', { name: /^Files and tasks/ }).click()
    await walk(page, phone, 'dark')

    const out = await browser.newContext({ viewport: phone })
    const { page: signedOut } = await openTab(out)
    await signedOut.goto(server.url)
    await signedOut.getByRole('heading').first().waitFor()
    for (const scheme of ['light', 'dark'] as const) await look(signedOut, 'signed out', scheme)
    await driver.return?.()
    const { link } = await connectHoldfast(server.url, server.token).share(rich.id)
    await signedOut.goto(link)
    await signedOut.getByText('goodbye').first().waitFor()
    for (const scheme of ['light', 'dark'] as const) await look(signedOut, 'shared', scheme)
    await out.close()

    // A server that is away: the connection is lost, and a session cannot be opened.
    const { page: away } = await openTab(now().context)
    await away.setViewportSize(phone)
    await away.addInitScript('delete globalThis.SharedWorker')
    await away.route(/\/v1\/(stream|sessions\/)/, (route) => route.abort())
    await away.goto(`${server.url}/#/s/${rich.id}`)
    await away.getByText('Connection lost.').waitFor()
    await away.getByRole('heading', { name: 'The server does not respond' }).waitFor()
    await picture(away, 'away')
    for (const scheme of ['light', 'dark'] as const) await look(away, 'away', scheme)
    found.push(...((await away.evaluate(smallTargets)) as readonly string[]).map((target) => `away: small: ${target}`))
    expect([...new Set(found)]).toEqual([])
    expect(complaints).toEqual([])
  })

  it('has one header row on a phone, with all menus behind one button', async () => {
    const { page } = now()
    await page.setViewportSize(phone)
    await startSession('count to 2')
    await atRest()
    const header = page.locator('.session-header')
    expect((await header.boundingBox())?.height).toBeLessThan(60)
    expect(await page.getByRole('button', { name: 'More' }).isVisible()).toBe(false)
    const actions = page.getByRole('button', { name: 'Session actions' })
    await actions.click()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: /^Compact/ }).waitFor()
    await page.keyboard.press('Escape')
    await actions.click()
    await page.getByRole('button', { name: 'More' }).waitFor({ state: 'hidden' })
  })

  it('can be installed: its manifest and icons are there', async () => {
    const { page, server } = now()
    await page.goto(server.url)
    const href = await page.locator('link[rel="manifest"]').getAttribute('href')
    const answer = await fetch(new URL(href ?? '', `${server.url}/`))
    expect(answer.headers.get('content-type')).toBe('application/manifest+json')
    expect(answer.headers.get('content-security-policy')).toContain("manifest-src 'self'")
    const manifest = (await answer.json()) as { display: string; icons: { src: string; type: string; sizes: string }[] }
    expect(manifest.display).toBe('standalone')
    expect(manifest.icons.map(({ sizes }) => sizes)).toEqual(expect.arrayContaining(['192x192', '512x512']))
    for (const { src, type } of manifest.icons) {
      const icon = await fetch(new URL(src, answer.url))
      expect([icon.status, icon.headers.get('content-type')]).toEqual([200, type])
    }
  })

  it('tells a screen reader finished paragraphs from one region, and no tokens', async () => {
    const { page } = now()
    await startSession('count to 2')
    await atRest()
    expect(await transcript().getAttribute('aria-live')).toBe('off')
    const heard: string[] = []
    await page.exposeFunction('hear', (text: string) => void heard.push(text))
    await page.evaluate(`new MutationObserver(() => hear(document.querySelector('main [role=status]').textContent))
      .observe(document.querySelector('main [role=status]'), { childList: true, characterData: true, subtree: true })`)
    await say('count to 40')
    const counted = `${Array.from({ length: 40 }, (_, index) => index + 1).join(', ')}.`
    await expect.poll(() => heard.join('\n')).toContain(counted)
    await atRest()
    const sentences = new Set(['1, 2.', 'Working', counted, 'Finished'])
    expect(heard.flatMap((text) => text.split('\n')).filter((text) => !sentences.has(text))).toEqual([])
    expect(await page.locator('main [role=status]').count()).toBe(1)
    await say('run echo hi')
    await expect.poll(() => heard.at(-1)).toContain('Waiting for you: Run this command? echo hi')
  })
})
