import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export const densities = ['comfortable', 'compact'] as const
export const diagramChoices = ['source', 'show'] as const

/** How the page looks in this browser. `public/theme.js` applies it before the first paint. */
export type Appearance = {
  readonly theme: (typeof themes)[number]
  readonly density: (typeof densities)[number]
  /** Whether diagrams are drawn without being asked for. */
  readonly diagrams: (typeof diagramChoices)[number]
}

const key = 'holdfast.appearance'

/** Reads a stored appearance. What is missing or unknown is the default. */
export function parseAppearance(text: string | null): Appearance {
  let given: unknown = null
  try {
    given = JSON.parse(text ?? 'null')
  } catch {
    // Somebody else wrote it. The next change replaces it.
  }
  const { theme, density, diagrams } = (typeof given === 'object' && given !== null ? given : {}) as Record<
    string,
    unknown
  >
  return {
    theme: themes.find((one) => one === theme) ?? 'system',
    density: densities.find((one) => one === density) ?? 'comfortable',
    diagrams: diagramChoices.find((one) => one === diagrams) ?? 'source',
  }
}

const listeners = new Set<() => void>()
let current = parseAppearance(globalThis.localStorage?.getItem(key) ?? null)

function apply(): void {
  const { dataset } = document.documentElement
  if (current.theme === 'system') delete dataset['theme']
  else dataset['theme'] = current.theme
  if (current.density === 'compact') dataset['density'] = 'compact'
  else delete dataset['density']
}

export function setAppearance(change: Partial<Appearance>): void {
  current = { ...current, ...change }
  localStorage.setItem(key, JSON.stringify(current))
  apply()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  // Another tab may change it.
  const onStorage = (event: StorageEvent) => {
    if (event.key !== key) return
    current = parseAppearance(event.newValue)
    apply()
    listener()
  }
  listeners.add(listener)
  addEventListener('storage', onStorage)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', onStorage)
  }
}

export const useAppearance = (): Appearance =>
  useSyncExternalStore(
    subscribe,
    () => current,
    () => current,
  )

const systemIsDark = () => matchMedia('(prefers-color-scheme: dark)')

const isDark = (): boolean => current.theme === 'dark' || (current.theme === 'system' && systemIsDark().matches)

/** Returns whether the page is dark now. */
export const useIsDark = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      const query = systemIsDark()
      const leave = subscribe(listener)
      query.addEventListener('change', listener)
      return () => {
        leave()
        query.removeEventListener('change', listener)
      }
    },
    isDark,
    () => false,
  )

/** Switches between light and dark, from what is shown now. */
export const toggleTheme = (): void => setAppearance({ theme: isDark() ? 'light' : 'dark' })
