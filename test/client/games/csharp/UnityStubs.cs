// The few types of Unity that the component uses, without what they do: enough to compile it, not to run it.
using System;

namespace UnityEngine
{
    public class Object { }

    public class Component : Object { public T GetComponent<T>() where T : class => null; }

    public class MonoBehaviour : Component { }

    public sealed class AudioSource : Component { public void Play() { } }

    public sealed class AudioClip : Object
    {
        public int samples;
        public bool GetData(float[] data, int offset) => true;
    }

    public sealed class Mesh : Object { public int GetBlendShapeIndex(string name) => -1; }

    public sealed class SkinnedMeshRenderer : Component
    {
        public Mesh sharedMesh;
        public void SetBlendShapeWeight(int index, float weight) { }
    }

    public static class Application { public static bool runInBackground; }

    public static class Time { public static float unscaledDeltaTime; }

    public static class AudioSettings
    {
        public static int outputSampleRate;
        public static void GetDSPBufferSize(out int length, out int count) => length = count = 0;
    }

    public static class Microphone
    {
        public static string[] devices = new string[0];
        public static AudioClip Start(string device, bool loops, int seconds, int rate) => null;
        public static int GetPosition(string device) => 0;
    }

    public sealed class RequireComponent : Attribute { public RequireComponent(Type type) { } }

    public sealed class TooltipAttribute : Attribute { public TooltipAttribute(string text) { } }

    public sealed class RangeAttribute : Attribute { public RangeAttribute(float least, float most) { } }
}

namespace UnityEngine.Events
{
    public class UnityEvent<T> { public void Invoke(T value) { } }
}
