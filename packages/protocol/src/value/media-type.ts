const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
}

/** Normalizes a media type: lower case, no parameters, aliases resolved. */
export function properMediaType(claimed: string): string {
  const [bare = ''] = claimed.split(';', 1)
  const name = bare.trim().toLowerCase()
  return Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name
}

/** Whether a normalized media type is text. */
export const isTextType = (mediaType: string): boolean =>
  /^text\/|^application\/(json|xml|javascript|typescript|yaml|x-yaml|toml|sql|x-sh|x-ndjson|graphql)$|\+(json|xml|yaml)$/.test(
    mediaType,
  )
