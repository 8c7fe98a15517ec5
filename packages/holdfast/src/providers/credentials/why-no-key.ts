import { isSendableKey } from './credentials-file.ts'

/** What people paste in place of a key, or around it, as a sentence; null for what may be a key. It is never said back. */
export function whyNoKey(text: string): string | null {
  if (text === '') return 'The key is empty.'
  if (/^(["'`]).*\1$/.test(text)) return 'The key stands in quotes; give it without them.'
  if (/^(?:export\s+)?[A-Z][A-Z0-9_]*=./.test(text))
    return 'That is a whole assignment; give only what stands behind the =.'
  if (/^https?:\/\//i.test(text)) return 'That is an address, not a key.'
  if (/\s/.test(text)) return 'There is a blank in it, and no key has one. Copy it again.'
  return isSendableKey(text)
    ? null
    : 'That cannot be a key: it is too long, or has characters that no key has. Copy it again.'
}
