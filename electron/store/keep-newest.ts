/** Puts it last; once there are more than `most`, the one that was put first goes. */
export function keepNewest<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value as K);
}
