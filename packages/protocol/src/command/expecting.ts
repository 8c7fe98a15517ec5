/** What a field is for, to whoever left it out or sent something else. */
export const expecting = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? `missing; give ${what}` : `give ${what}`),
})
