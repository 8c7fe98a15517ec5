import type { Environment } from '../../system/environment.ts'
import { registerKey } from '../../system/secrets/known-keys.ts'
import type { KnownServices } from './known.ts'

/** What is called so is a key, whether or not its provider is ever asked for. */
const keyVariable = /_API_KEY$/
const keyHeader = /auth|cookie|key|secret|token/i
/** What these hold is long, and meant for everyone. */
const plainHeader = /^(accept.*|content-type|user-agent|origin|(http-)?referer)$|-(beta|title|version)$/i
const keyCharsMin = 16

/** Makes known what is a key in the environment and the config, before anything is said that could hold one. */
export function registerKeys(environment: Environment, services: KnownServices): void {
  const all = [...services.values()]
  const names = new Set(all.flatMap(({ keyNames }) => keyNames))
  for (const [name, value = ''] of Object.entries(environment))
    if (names.has(name) || keyVariable.test(name)) registerKey(value.trim())
  for (const [header, value] of all.flatMap(({ headers }) => Object.entries(headers)))
    for (const key of keysIn(header, value.trim())) registerKey(key)
}

/** Behind `Bearer` and its like a key stands alone, and may be quoted so. */
function keysIn(header: string, value: string): readonly string[] {
  if (plainHeader.test(header)) return []
  const words = value.split(/\s+/)
  const alike = words.filter((word) => word.length >= keyCharsMin)
  return keyHeader.test(header) ? [value, ...words.slice(-1), ...alike] : alike
}
