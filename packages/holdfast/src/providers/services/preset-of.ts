import { presets } from './presets.ts'

/** The preset that a service is: by its name, or as the one at whose address it is called. Null where it is none. */
export function presetOf(name: string, baseUrl: string): string | null {
  const found =
    presets.find((preset) => preset.name === name) ?? presets.find((preset) => isAt(preset.baseUrl, baseUrl))
  return found?.name ?? null
}

const isAt = (address: string, other: string): boolean =>
  URL.canParse(other) && new URL(address).origin === new URL(other).origin
