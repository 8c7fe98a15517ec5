import { invariant, orThrow } from '@holdfast/protocol'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openTab, usePage } from './page-fixture.ts'

/** Says to a page whether it is seen. A headless browser shows every tab. */
const show = (page: Page, isHidden: boolean) =>
  page.evaluate<void>(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
    void document.dispatchEvent(new Event('visibilitychange'))
  `)

/** Counts the streams that a page has open. */
function countStreams(page: Page) {
  const open = new Set<unknown>()
  page.on('request', (request) => {
    if (/\/v1\/(stream|events|sessions\/[^/]+\/events)$/.test(new URL(request.url()).pathname)) open.add(request)
  })
  page.on('requestfailed', (request) => open.delete(request))
  page.on('requestfinished', (request) => open.delete(request))
  return () => open.size
}

describe('several screens', () => {
  const { now, startSession, atRest, answer } = usePage({ env: { DEMO_PACE: '1' } })

  it('works in twenty windows that are all seen and share one connection, and in tabs that are hidden', async () => {
    const { page, context, server } = now()
    const counts = [countStreams(page)]
    await startSession('count to 3')
    await answer(3).waitFor()
    await atRest()
    const said = (one: Page, text: string) =>
      one.getByRole('log', { name: 'Transcript' }).getByText(text, { exact: true })
    const windows = [page]
    while (windows.length < 20) {
      const { page: next } = await openTab(context)
      counts.push(countStreams(next))
      await next.goto(page.url())
      windows.push(next)
    }
    for (const one of windows) await said(one, '1, 2, 3.').waitFor()
    expect(counts.reduce((sum, count) => sum + count(), 0)).toBe(0) // the worker that all windows share has it
    await page.getByRole('textbox', { name: 'Message' }).fill('count to 4')
    await page.getByRole('button', { name: 'Send' }).click()
    for (const one of windows) await said(one, '1, 2, 3, 4.').waitFor()

    for (const one of windows.slice(0, -1)) await show(one, true)
    const last = windows.at(-1)
    invariant(last, 'there are windows')
    await last.getByRole('button', { name: 'Take control' }).click()
    await last.getByRole('textbox', { name: 'Message' }).fill('count to 5')
    await last.getByRole('button', { name: 'Send' }).click()
    await said(last, '1, 2, 3, 4, 5.').waitFor()
    // A tab that comes back has what it missed, and its seat.
    await show(last, true)
    await show(page, false)
    await said(page, '1, 2, 3, 4, 5.').waitFor()
    await page.getByText('You are watching. In control: another tab in this browser.').waitFor()
    // A closed tab gives up its seat, also one that was kept for it while it was hidden. The others go on.
    for (const one of windows.slice(2)) await one.close()
    const handle = orThrow(await server.sessions.open(page.url().split('/s/').at(-1) ?? ''))
    await expect.poll(async () => orThrow(await handle.state(['meta'])).meta.attachments).toBe(2)
    orThrow(await handle.submit({ type: 'rename', title: 'seen everywhere' }))
    await page.getByRole('heading', { name: 'seen everywhere' }).waitFor()
  })

  it('uses a connection of its own where the browser has no shared workers', async () => {
    const { page } = now()
    const count = countStreams(page)
    await page.addInitScript('delete globalThis.SharedWorker')
    await startSession('count to 3')
    await answer(3).waitFor()
    expect(count()).toBe(1)
  })

  /** Hides a tab and says that two others are shown, so that it leaves its streams before its 30 s are over. */
  const hideAtOnce = async (tab: Page, other: Page) => {
    await show(tab, true)
    await other.evaluate<void>(`
      const channel = new BroadcastChannel('holdfast.screens')
      for (const _ of [1, 2]) channel.postMessage({ type: 'shown' })
    `)
  }

  it('keeps no session stream in a tab that is hidden for 30 s, but its seat and its count of what waits', async () => {
    const { page, context, server, workdir } = now()
    await page.addInitScript('delete globalThis.SharedWorker') // so that the streams are requests of the tab
    const unfollowed: string[] = []
    page.on('request', (request) => request.url().endsWith('/unfollow') && unfollowed.push(request.url()))
    const keeper = countStreams(page)
    await startSession('count to 3') // this tab is the first: it keeps the news
    await answer(3).waitFor()
    await atRest()
    const { page: other } = await openTab(context)
    await other.addInitScript('delete globalThis.SharedWorker')
    await other.clock.install()
    const count = countStreams(other)
    await other.goto(page.url())
    const said = other.getByRole('log', { name: 'Transcript' })
    await said.getByText('1, 2, 3.', { exact: true }).waitFor()
    const handle = orThrow(await server.sessions.open(page.url().split('/s/').at(-1) ?? ''))
    const seats = async () => orThrow(await handle.state(['meta'])).meta.attachments
    await expect.poll(seats).toBe(2)
    expect(count()).toBe(1)

    await show(other, true)
    await other.clock.fastForward(29_000)
    expect(count()).toBe(1)
    await other.clock.fastForward(2_000)
    await expect.poll(count).toBe(0)
    expect(await seats()).toBe(2)
    await hideAtOnce(page, other)
    await expect.poll(() => unfollowed.length).toBe(1)
    expect(keeper()).toBe(1) // with the news only
    const asked = orThrow(await server.sessions.start({ workdir, model: 'demo/agent' }))
    orThrow(await asked.submit({ type: 'sendPrompt', content: 'write hidden.txt: 1' }))
    for (const tab of [page, other]) await expect.poll(() => tab.title()).toMatch(/^\(1\) /)
    expect([count(), await seats()]).toEqual([0, 2])

    orThrow(await handle.submit({ type: 'sendPrompt', content: 'count to 4' }))
    await show(other, false)
    await said.getByText('1, 2, 3, 4.', { exact: true }).waitFor()
    await expect.poll(async () => orThrow(await asked.snapshot()).view.pendingApprovals.length).toBe(1)
    orThrow(await asked.submit({ type: 'respondToApproval', decision: 'reject' }))
  })

  it('has one tab that keeps the news for hidden ones also where the browser has no locks, as on plain HTTP', async () => {
    const { page, context, server, workdir } = now()
    const noLocks = "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })"
    const { page: closed } = await openTab(context)
    const { page: other } = await openTab(context)
    for (const tab of [closed, page, other]) {
      await tab.addInitScript(noLocks)
      await tab.goto(server.url)
      await tab.getByRole('button', { name: 'Start session' }).waitFor()
    }
    await closed.close() // it was chosen, and another one is now
    await hideAtOnce(page, other)
    await hideAtOnce(other, page)
    const asked = orThrow(await server.sessions.start({ workdir, model: 'demo/agent' }))
    orThrow(await asked.submit({ type: 'sendPrompt', content: 'write hidden.txt: 1' }))
    for (const tab of [page, other]) await expect.poll(() => tab.title()).toMatch(/^\(1\) /)
    await expect.poll(async () => orThrow(await asked.snapshot()).view.pendingApprovals.length).toBe(1)
    orThrow(await asked.submit({ type: 'respondToApproval', decision: 'reject' }))
  })

  it('lets who watches stop the agent, and take control', async () => {
    const { page, context } = now()
    await startSession('count to 500')
    const { page: other } = await openTab(context)
    await other.goto(page.url())
    await other.getByText('You are watching. In control: another tab in this browser.').waitFor()
    await other.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    await other.getByRole('button', { name: 'Take control' }).click()
    await page.getByText('You are watching. In control: another tab in this browser.').waitFor()
    expect(await other.getByRole('textbox', { name: 'Message' }).isEnabled()).toBe(true)
  })

  it('counts sessions that wait in the title and the icon of every tab', async () => {
    const { page, context } = now()
    await startSession('write asked.txt: hello')
    const approve = page.getByRole('button', { name: 'Approve' })
    await approve.waitFor()
    const { page: other } = await openTab(context)
    await other.goto(now().server.url)
    await expect.poll(() => other.title()).toMatch(/^\(\d+\) Holdfast$/)
    await expect.poll(() => page.title()).toMatch(/^\(\d+\) ◆ write asked\.txt/)
    const icon = () => other.locator('link[rel="icon"]').getAttribute('href')
    expect(await icon()).toMatch(/^blob:/)
    await approve.click()
    await expect.poll(() => other.title()).toBe('Holdfast')
    expect(await icon()).not.toMatch(/^blob:/)
  })
})
