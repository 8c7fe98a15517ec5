import { createCommandId, escapeLine } from '@holdfast/protocol'

const tabKey = 'holdfast.client'
const browserKey = 'holdfast.browser'

const browsers = [
  ['Edge', /Edg/],
  ['Firefox', /Firefox|FxiOS/],
  ['Chrome', /Chrome|CriOS/],
  ['Safari', /Safari/],
] as const
const systems = [
  ['Android', /Android/],
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Windows', /Windows/],
  ['Mac', /Mac/],
  ['Linux', /Linux|CrOS/],
] as const

const firstOf = (names: readonly (readonly [string, RegExp])[], agent: string): string =>
  names.find(([, pattern]) => pattern.test(agent))?.[0] ?? 'other'

/** Returns the client id of a tab, which says where it is: `page.Chrome.Linux.` and the ids of the browser and the tab. */
export const nameClient = (agent: string, browser: string, tab: string): string =>
  ['page', firstOf(browsers, agent), firstOf(systems, agent), browser, tab].join('.')

const newId = (): string => createCommandId().slice(0, 6)

/** Returns the value of a key, made at first use. */
function keep(storage: Storage, key: string, make: () => string): string {
  const known = storage.getItem(key)
  if (known !== null) return known
  const made = make()
  storage.setItem(key, made)
  return made
}

/** The client id of this tab. It survives a reload, so that the tab stays the driver. */
export function tabClient(): string {
  const browser = keep(localStorage, browserKey, newId)
  return keep(sessionStorage, tabKey, () => nameClient(navigator.userAgent, browser, newId()))
}

/** Says who a client is, as `me` would: "another tab in this browser", "Safari on iPhone", "a terminal". */
export function clientText(client: string, me: string): string {
  const [kind, browser, system, browserId] = client.split('.')
  const [, , , mine] = me.split('.')
  if (kind === 'page' && browser !== undefined && system !== undefined) {
    if (browserId === mine) return 'another tab in this browser'
    const words = browser === 'other' ? 'a browser' : browser
    return system === 'other' ? words : `${words} on ${system}`
  }
  if (/^terminal-[0-9a-f]{8}$/.test(client)) return 'a terminal'
  return /^[0-9a-f-]{36}$/.test(client) ? 'a program' : escapeLine(client)
}
