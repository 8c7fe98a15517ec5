import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** A browser that allows notifications, and its module anew: it keeps what it found out. */
async function openBrowser(show: (title: string) => void, userAgent = 'X11; Linux') {
  vi.stubGlobal('navigator', { userAgent })
  class Notification {
    static readonly permission = 'granted'
    static readonly requestPermission = async () => 'granted'
    constructor(title: string) {
      show(title)
    }
    readonly addEventListener = () => undefined
    readonly close = () => undefined
  }
  vi.stubGlobal('Notification', Notification)
  vi.stubGlobal('isSecureContext', true)
  vi.stubGlobal('localStorage', { getItem: () => null })
  return import('./notify.ts')
}

const waiting = [{ id: 'ses_1', title: 'lamp', handle: 'a' }] as never
const nobodySees = async () => false

it('notifies about sessions that began to wait', async () => {
  const shown: string[] = []
  const { notifyWaiting, notifyState } = await openBrowser((title) => shown.push(title))
  await notifyWaiting(waiting, nobodySees)
  expect([shown, notifyState()]).toEqual([['Waits for your answer'], 'on'])
})

it('says that they are missing where the browser throws, as on a phone', async () => {
  const { notifyWaiting, notifyState } = await openBrowser(() => {
    throw new TypeError('Illegal constructor')
  })
  expect(notifyState()).toBe('on')
  await notifyWaiting(waiting, nobodySees)
  expect(notifyState()).toBe('missing')
})

it('finds out on a phone whether they work when a person turns them on', async () => {
  const { askToNotify } = await openBrowser(() => {
    throw new TypeError('Illegal constructor')
  }, 'Linux; Android 16')
  expect(await askToNotify()).toBe('missing')
  const shown: string[] = []
  vi.resetModules()
  const desk = await openBrowser((title) => shown.push(title))
  expect([await desk.askToNotify(), shown]).toEqual(['on', []])
})
